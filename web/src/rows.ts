// Names of rows that can be chosen.
import { h } from "./dom";
import type { State } from "./state";

export function rowChips(
  report: { rowName(row: number): string },
  state: State,
  rows: number[],
  most = 60,
  more?: (row: number) => string,
): HTMLElement {
  const list = h("ul", { class: "chips" });
  const add = (from: number, to: number) => {
    for (const row of rows.slice(from, to))
      list.append(
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "chip", onclick: () => showRow(state, row) },
            h("bdi", {}, report.rowName(row)),
            more?.(row),
          ),
        ),
      );
    if (to >= rows.length) return;
    const next = Math.min(rows.length, to + 500);
    const rest = h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "link",
          onclick: () => {
            rest.remove();
            add(to, next);
          },
        },
        next < rows.length
          ? `show ${(next - to).toLocaleString("en")} more of ${(rows.length - to).toLocaleString("en")}`
          : `show the other ${(next - to).toLocaleString("en")}`,
      ),
    );
    list.append(rest);
  };
  add(0, most);
  return list;
}

export function showRow(state: State, row: number): void {
  state.chooseRow(row);
  document.getElementById("row-card")?.scrollIntoView({ block: "nearest" });
}
