// What the model learned about each column: how wide it is within a cluster, and how strongly it separates them.
import { h, scroller, table } from "../dom";
import { percent, type Report } from "../data";

function brief(value: number | null): string {
  return value === null ? "-" : String(Number(value.toPrecision(3)));
}

export function separationSection(report: Report): HTMLElement | null {
  const { separation } = report.data;
  if (separation.length === 0) return null;
  return h(
    "section",
    { id: "separation", "aria-labelledby": "separation-title" },
    h("h2", { id: "separation-title" }, "What the model learned about each column"),
    scroller(
      "How strongly each column separates the clusters",
      table(
        ["column", "kind", "modeled as", "overall", "within a cluster", "between clusters"],
        separation.map((entry) => [
          entry.column,
          entry.kind,
          entry.family + (entry.transform === "" ? "" : `, ${entry.transform}`),
          brief(entry.overall),
          brief(entry.within),
          percent(entry.between),
        ]),
        "Standard deviations in the units of the data; of categories how often two rows differ. Between clusters: the " +
          "share of the column's variance that is between clusters, averaged over draws; near 0 it does not separate them.",
        [false, false, false, true, true, true],
      ),
    ),
  );
}
