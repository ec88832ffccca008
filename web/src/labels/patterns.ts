// The clusters: which labels and which features belong together, and whose rows are typical.
import { chart, Plot } from "../chart";
import { brief, percent } from "../data";
import { h, scroller, table } from "../dom";
import { figure } from "../figure";
import { amountColor, readableOn } from "../palette";
import { rowChips } from "../rows";
import type { State } from "../state";
import type { LabelReport, Pattern } from "./data";

const mostLabels = 24;
const mostClusters = 30;
const mostRows = 12;

export function patternsSection(report: LabelReport, state: State): HTMLElement {
  const panel = h("div", { class: "row-card", id: "pattern-card" });
  const patterns = report.data.labels.patterns;
  const chooser = h(
    "select",
    { id: "pattern" },
    ...patterns.map((pattern, i) => h("option", { value: i }, patternName(report, pattern))),
  );
  const draw = () => {
    const at = Math.min(state.node, patterns.length - 1);
    chooser.value = String(at);
    panel.replaceChildren(...patternPanel(report, state, patterns[at]));
  };
  chooser.addEventListener("change", () => state.chooseNode(Number(chooser.value)));
  state.on("node", draw);
  state.on("theme", draw);
  if (patterns.length > 0) draw();
  return h(
    "section",
    { id: "patterns", "aria-labelledby": "patterns-title" },
    h("h2", { id: "patterns-title" }, "Clusters of features and labels"),
    patternsFigure(report, state),
    h("p", { class: "search" }, h("label", { for: "pattern" }, "Cluster "), chooser),
    panel,
  );
}

/** Its labels, the most frequent first. */
function strongest(pattern: Pattern): number[] {
  return pattern.labels.map((_, c) => c).sort((a, b) => pattern.labels[b] - pattern.labels[a]);
}

export function patternName(report: LabelReport, pattern: Pattern): string {
  const [first, second] = strongest(pattern);
  const names = [
    first,
    ...(second !== undefined && pattern.labels[second] > 0.5 * pattern.labels[first] ? [second] : []),
  ];
  return `cluster ${pattern.cluster}: ${names.map((c) => report.names[c]).join(", ")} (${percent(pattern.weight)})`;
}

function measure(report: LabelReport): string {
  return report.data.labels.label_model === "bernoulli"
    ? "probability of the label"
    : "fraction of the cluster's labels";
}

/** Clusters against labels. */
function patternsFigure(report: LabelReport, state: State): HTMLElement {
  const patterns = report.data.labels.patterns.slice(0, mostClusters);
  const shown = report.frequent.slice(0, mostLabels);
  const body = h("div", {});
  const clusterName = (pattern: Pattern) => `cluster ${pattern.cluster} (${percent(pattern.weight)})`;
  const cells = patterns.flatMap((pattern, at) =>
    shown.map((c) => ({ at, cluster: clusterName(pattern), label: report.tick(c, 18), value: pattern.labels[c] })),
  );
  const high = Math.max(1e-9, ...cells.map((cell) => cell.value));
  const largest = patterns[0];
  const sentence =
    patterns.length === 0
      ? "No cluster has rows."
      : `Each line is a cluster, the largest first, with its fraction of the rows; the brighter a cell, the larger the ${measure(report)} ` +
        `(0 to ${percent(high)}). The largest, ${patternName(report, largest)}.` +
        (patterns.length < report.data.labels.patterns.length
          ? ` The ${patterns.length} largest of ${report.data.labels.patterns.length} clusters.`
          : "") +
        (shown.length < report.names.length
          ? ` The ${shown.length} most frequent of ${report.names.length} labels.`
          : "");
  const numbers = shown.length <= 12;
  const draw = () => {
    const drawing = chart({
      title: "Labels of the clusters",
      description: sentence,
      width: Math.max(420, 150 + Math.max(28, Math.min(70, 600 / shown.length)) * shown.length),
      height: 110 + 26 * patterns.length,
      marginLeft: 120,
      marginTop: 84,
      marginRight: 50,
      x: { axis: "top", label: null, tickRotate: -45, domain: shown.map((c) => report.tick(c, 18)) },
      y: { label: null, domain: patterns.map(clusterName) },
      marks: [
        Plot.cell(cells, {
          x: "label",
          y: "cluster",
          fill: (cell: { value: number }) => amountColor(cell.value / high),
          inset: 0.5,
        }),
        numbers
          ? Plot.text(cells, {
              x: "label",
              y: "cluster",
              text: (cell: { value: number }) => percent(cell.value),
              pointerEvents: "none",
              fill: (cell: { value: number }) => readableOn(amountColor(cell.value / high)),
            })
          : null,
      ],
    });
    drawing.querySelectorAll("rect").forEach((rect, i) => {
      if (i >= cells.length) return;
      rect.style.setProperty("cursor", "pointer");
      rect.addEventListener("click", () => state.chooseNode(cells[i].at));
    });
    body.replaceChildren(scroller("Labels of the clusters", drawing));
  };
  const made = figure({
    name: "patterns",
    title: "Labels of the clusters",
    body,
    drawings: () => [body.querySelector("svg") as SVGSVGElement],
    rows: function* () {
      yield ["cluster", "weight", ...report.names];
      for (const pattern of report.data.labels.patterns) yield [pattern.cluster, pattern.weight, ...pattern.labels];
    },
  });
  state.on("theme", draw);
  draw();
  made.say(sentence);
  return made.element;
}

function patternPanel(report: LabelReport, state: State, pattern: Pattern): Node[] {
  const members: [number, number][] = [];
  for (let row = 0; row < report.rows; row++) {
    const [first] = report.clusters(row);
    if (first !== undefined && first.cluster === pattern.cluster) members.push([row, first.share]);
  }
  members.sort((a, b) => b[1] - a[1]);
  const real = report.data.columns.some((column) => column.kind === "real");
  return [
    h("h3", {}, patternName(report, pattern)),
    h(
      "p",
      { class: "facts", role: "status" },
      `${percent(pattern.weight)} of the rows by weight; the most probable cluster of ${pattern.rows.toLocaleString("en")} rows.`,
    ),
    h(
      "div",
      { class: "grid" },
      scroller(
        "Its labels",
        table(
          ["label", measure(report)],
          strongest(pattern)
            .slice(0, 10)
            .map((c) => [h("bdi", {}, report.names[c]), percent(pattern.labels[c])]),
          "Its labels, the most frequent first",
          [false, true],
        ),
      ),
      scroller(
        "Its features",
        table(
          ["column", "here", real ? "distance from all, sd" : "ratio to all rows"],
          pattern.features
            .slice(0, 10)
            .map((entry) => [
              h("bdi", {}, entry.column),
              brief(entry.value),
              real ? entry.log_ratio.toFixed(2) : brief(Math.exp(entry.log_ratio)),
            ]),
          "Its most distinguishing features",
          [false, true, true],
        ),
      ),
    ),
    h("h4", {}, "Typical rows"),
    members.length === 0
      ? h("p", { class: "facts" }, "It is not the most probable cluster of any row shown.")
      : rowChips(
          report,
          state,
          members.map(([row]) => row),
          mostRows,
          undefined,
        ),
  ];
}
