// All names of a figure that may have room for only some of them: a list that opens, and is open on paper.
import { h } from "./dom";

export function nameList(title: string, names: string[]): HTMLElement {
  return h(
    "details",
    { class: "name-list" },
    h("summary", {}, `${title} (${names.length.toLocaleString("en")})`),
    h("ol", {}, ...names.map((name) => h("li", {}, h("bdi", {}, name)))),
  );
}

/** Lists are opened before the page is printed, and closed again. */
export function openListsOnPaper(): void {
  const opened: HTMLDetailsElement[] = [];
  window.addEventListener("beforeprint", () => {
    for (const list of document.querySelectorAll<HTMLDetailsElement>("details.name-list:not([open])")) {
      list.open = true;
      opened.push(list);
    }
  });
  window.addEventListener("afterprint", () => opened.splice(0).forEach((list) => (list.open = false)));
}
