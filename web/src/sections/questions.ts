// Questions about rows and columns: which rows are unusual and because of which cells, and how much columns tell about
// each other.
import { h, scroller, table } from "../dom";
import { percent, type Dependence, type ExpectedCell, type Report, type UnusualRow } from "../data";

/** A date stays as it is. */
function brief(value: number | string | null): string {
  if (typeof value === "string") return value;
  return value === null ? "-" : String(Number(value.toPrecision(3)));
}

function expected(cell: ExpectedCell): string {
  if (Object.keys(cell.probabilities).length > 0) return `${cell.mode ?? "-"} (${percent(cell.probability ?? 0)})`;
  return `${brief(cell.mean ?? cell.median)} (${brief(cell.low)} to ${brief(cell.high)})`;
}

function reasons(row: UnusualRow): string {
  if (row.cells.length === 0) return "no single cell";
  return row.cells
    .map((cell) => {
      return `${cell.column} = ${brief(cell.value)}, expected ${expected(cell.expected)}`;
    })
    .join("; ");
}

function unusualTable(rows: UnusualRow[]): HTMLElement | null {
  if (rows.length === 0) return null;
  return scroller(
    "Unusual rows",
    table(
      ["row", "log density", "excess", "because of"],
      rows.map((row) => [row.row, brief(row.log_density), brief(row.excess), reasons(row)]),
      "Each row is judged by all others: its log density given them, and how far that is from the mean of the rows, in " +
        "nats. The cells are those that are least likely given the other cells of their row, with what was expected.",
      [false, true, true, false],
    ),
  );
}

function share(value: number | null): string {
  return value === null ? "-" : percent(value);
}

function dependenceTable(pairs: Dependence[], greedy: boolean): HTMLElement | null {
  if (pairs.length === 0) return null;
  const views = pairs.some((pair) => pair.same_view !== null);
  return scroller(
    "Mutual information of columns",
    table(
      [
        "first",
        "second",
        "nats",
        ...(greedy ? [] : ["5 %", "95 %"]),
        "correlation",
        "of first",
        "of second",
        ...(views ? ["view"] : []),
      ],
      pairs.map((pair) => [
        pair.first,
        pair.second,
        pair.mutual_information.toFixed(3),
        ...(greedy ? [] : [pair.low.toFixed(3), pair.high.toFixed(3)]),
        pair.correlation.toFixed(2),
        share(pair.share_of_first),
        share(pair.share_of_second),
        ...(views ? [share(pair.same_view)] : []),
      ]),
      "How much one column tells about the other: mutual information of two cells of a new row" +
        `${greedy ? "" : ", mean and 90 % interval over draws"}. The most dependent pairs of the most separating columns. ` +
        "Correlation: that of two normal columns with " +
        "as much information. Of first, of second: the share of the entropy of that column, if it has categories or " +
        `counts, that the other one explains.${views ? " View: how often both are in one view." : ""}`,
      [false, false, ...Array<boolean>(9).fill(true)],
    ),
  );
}

export function questionsSection(report: Report): HTMLElement | null {
  const { unusual, dependence } = report.data.questions;
  const tables = [unusualTable(unusual), dependenceTable(dependence, report.data.head.greedy)];
  const shown = tables.filter((entry): entry is HTMLElement => entry !== null);
  if (shown.length === 0) return null;
  return h(
    "section",
    { id: "questions", "aria-labelledby": "questions-title" },
    h("h2", { id: "questions-title" }, unusual.length > 0 ? "Unusual rows and dependent columns" : "Dependent columns"),
    ...shown,
  );
}
