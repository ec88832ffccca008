// What the model learned about each column: how wide it is within a cluster, how strongly it separates them, and the
// learned hyper-parameters.
import { h, scroller, table } from "../dom";
import { percent, type LearnedValue, type Report, type Separation } from "../data";

function brief(value: number | null): string {
  return value === null ? "-" : String(Number(value.toPrecision(3)));
}

function scaled(family: string, transform: string): string {
  return family + (transform === "" ? "" : `, ${transform}`);
}

function separationTable(separation: Separation[]): HTMLElement | null {
  if (separation.length === 0) return null;
  return scroller(
    "How strongly each column separates the clusters",
    table(
      ["column", "kind", "modeled as", "overall", "within a cluster", "between clusters"],
      separation.map((entry) => [
        entry.column,
        entry.kind,
        scaled(entry.family, entry.transform),
        brief(entry.overall),
        brief(entry.within),
        percent(entry.between),
      ]),
      "Standard deviations in the units of the data; of categories how often two rows differ. Between clusters: the " +
        "share of the column's variance that is between clusters, averaged over draws; near 0 it does not separate them.",
      [false, false, false, true, true, true],
    ),
  );
}

function learnedTable(learned: LearnedValue[]): HTMLElement | null {
  const numbers = learned.filter((entry) => entry.level === "");
  if (numbers.length === 0) return null;
  return scroller(
    "Learned hyper-parameters",
    table(
      ["column", "modeled as", "hyper-parameter", "mean", "5 %", "95 %"],
      numbers.map((entry) => [
        entry.column === "" ? "all together" : entry.column,
        scaled(entry.family, entry.transform),
        entry.parameter,
        brief(entry.mean),
        brief(entry.q05),
        brief(entry.q95),
      ]),
      "Learned hyper-parameters: mean and 90 % interval of the draws. prior_mean: where clusters are expected. " +
        "cluster_sd: how wide a cluster is expected to be. Both in the units of the data, or on the log scale.",
      [false, false, false, true, true, true],
    ),
  );
}

const MOST_LEVELS = 6;

// The levels of each category column, the most probable first.
function levelsTable(learned: LearnedValue[]): HTMLElement | null {
  const columns = new Map<string, LearnedValue[]>();
  for (const entry of learned)
    if (entry.level !== "") columns.set(entry.column, [...(columns.get(entry.column) ?? []), entry]);
  if (columns.size === 0) return null;
  const levels = (entries: LearnedValue[]): string => {
    const shown = [...entries].sort((a, b) => b.mean - a.mean).slice(0, MOST_LEVELS);
    const texts = shown.map((entry) => `${entry.level} ${percent(entry.mean)}`);
    const others = entries.length - shown.length;
    return (others > 0 ? [...texts, `${others} more`] : texts).join(", ");
  };
  return scroller(
    "Expected frequencies of levels",
    table(
      ["column", "levels"],
      [...columns].map(([column, entries]) => [column, levels(entries)]),
      "How often a level is expected in a cluster, as learned from all clusters: mean of the draws.",
      [false, false],
    ),
  );
}

export function separationSection(report: Report): HTMLElement | null {
  const { separation, learned } = report.data;
  const tables = [separationTable(separation), learnedTable(learned), levelsTable(learned)];
  const shown = tables.filter((entry): entry is HTMLElement => entry !== null);
  if (shown.length === 0) return null;
  return h(
    "section",
    { id: "separation", "aria-labelledby": "separation-title" },
    h("h2", { id: "separation-title" }, "What the model learned about each column"),
    ...shown,
  );
}
