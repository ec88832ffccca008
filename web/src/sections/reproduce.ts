// How to get the same draws again.
import { h, table, scroller } from "../dom";
import type { Reproduce } from "../data";
import { save } from "../download";

export function reproduceSection(reproduce: Reproduce): HTMLElement {
  const said = h("span", { role: "status", class: "facts" });
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      said.textContent = "this browser does not allow pages to copy; select the text instead";
    }
  };
  const small = (label: string, act: () => void) =>
    h("button", { type: "button", class: "small", onclick: act }, label);
  return h(
    "section",
    { id: "reproduce", "aria-labelledby": "reproduce-title" },
    h("h2", { id: "reproduce-title" }, "How to reproduce it"),
    reproduce.merged
      ? h(
          "p",
          {},
          "The chains of several runs were merged here; no single command draws them all. This is the first run's:",
        )
      : h("p", {}, "The same data, settings, seed and version give the same draws, on any number of threads."),
    h(
      "div",
      { class: "figure-head" },
      h("h3", {}, "Command"),
      small("Copy", () => void copy(reproduce.command)),
      said,
    ),
    h("pre", { tabindex: 0, "aria-label": "Command" }, reproduce.command),
    h(
      "div",
      { class: "figure-head" },
      h("h3", {}, "Or as a file, for coppice fit --config"),
      small("TOML", () => save("run.toml", "application/toml", reproduce.toml)),
    ),
    h("pre", { tabindex: 0, "aria-label": "Configuration file" }, reproduce.toml),
    h(
      "details",
      {},
      h("summary", {}, "How the columns were interpreted (codebook)"),
      h(
        "p",
        {},
        "These settings are inferred from the data. If a codebook was given, or to fix them, save this and add --codebook. ",
        small("TOML", () => save("codebook.toml", "application/toml", reproduce.codebook)),
      ),
      h("pre", { tabindex: 0, "aria-label": "Codebook" }, reproduce.codebook),
    ),
    scroller(
      "Versions",
      table(
        ["what", "value"],
        [
          ["data", reproduce.data],
          ["SHA-256 of the data", reproduce.digest],
          ["fitted with", `coppice ${reproduce.fitted_with}`],
          ["fit begun", reproduce.created_at],
          ["reported with", `coppice ${reproduce.reported_with} (${reproduce.compiler})`],
        ],
        "Data and versions",
      ),
    ),
  );
}
