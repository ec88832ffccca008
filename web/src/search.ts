// Finding a row by its name.
import { h } from "./dom";
import { rowChips } from "./rows";
import type { State } from "./state";

const mostHits = 12;

/** The field, what it found, and (if given) a filter with its own switch. */
export function searchBox(
  report: { rows: number; rowName(row: number): string },
  state: State,
  isWanted: (row: number) => boolean,
  control?: { element: HTMLElement; onChange: (search: () => void) => void },
): HTMLElement[] {
  const found = h("div", { class: "hits" });
  const said = h("p", { class: "facts", role: "status" });
  const field = h("input", {
    type: "search",
    id: "row-search",
    placeholder: "name of a row",
    autocomplete: "off",
    spellcheck: "false",
  });
  const search = () => {
    const text = field.value.trim().toLocaleLowerCase();
    if (text === "") {
      found.replaceChildren();
      said.textContent = "";
      return;
    }
    const hits: number[] = [];
    let count = 0;
    let exact = false;
    for (let row = 0; row < report.rows; row++) {
      if (!isWanted(row)) continue;
      const name = report.rowName(row).toLocaleLowerCase();
      if (!name.includes(text)) continue;
      count++;
      if (name === text) {
        hits.unshift(row);
        exact = true;
      } else if (hits.length < mostHits) hits.push(row);
    }
    said.textContent =
      count === 0
        ? "No row has that name."
        : `${count.toLocaleString("en")} found${count > mostHits ? `, the first ${mostHits}` : ""}:`;
    found.replaceChildren(rowChips(report, state, hits.slice(0, mostHits)));
    if (hits.length === 1 || exact) state.chooseRow(hits[0]);
  };
  field.addEventListener("input", search);
  control?.onChange(search);
  return [
    h(
      "div",
      { class: "search", role: "search" },
      h("label", { for: "row-search" }, "Find a row"),
      field,
      control?.element ?? null,
    ),
    said,
    found,
  ];
}
