// How good are the predictions: measures, calibration, and each label on its own.
import { chart, Plot } from "../chart";
import { brief, percent, plural } from "../data";
import { h, scroller, table } from "../dom";
import { figure } from "../figure";
import type { State } from "../state";
import type { LabelReport, Reliability } from "./data";

const measures: [string, string, string][] = [
  ["micro_f1", "micro F1", "all labels of all rows pooled; 1 is best"],
  ["macro_f1", "macro F1", "mean over labels, so rare labels count as much as frequent ones; 1 is best"],
  ["example_f1", "example F1", "mean over rows; 1 is best"],
  ["subset_accuracy", "subset accuracy", "fraction of rows whose labels are all correct"],
  ["hamming_loss", "Hamming loss", "fraction of labels that are wrong; 0 is best"],
  ["ranking_loss", "ranking loss", "how often a label that a row lacks ranks above one that it has; 0 is best"],
  ["lrap", "label ranking average precision", "how pure the top of the ranking is; 1 is best"],
  ["coverage", "coverage", "how far down the ranking all labels of a row are found"],
  ["precision_at_1", "precision at 1", "fraction of rows whose top label is correct"],
  ["log_loss", "log loss", "per label, in nats; 0 is best"],
];

const mostDrawn = 40;
const mostListed = 300;

export function scoresSection(report: LabelReport, state: State): HTMLElement {
  const { scores } = report.data.labels;
  return h(
    "section",
    { id: "scores", "aria-labelledby": "scores-title" },
    h("h2", { id: "scores-title" }, "Predictive performance"),
    h(
      "div",
      { class: "grid" },
      scroller(
        "Measures",
        table(
          ["measure", "value", "what it is"],
          measures
            .filter(([name]) => name in scores)
            .map(([name, label, words]) => [label, scores[name].toFixed(3), words]),
          `Over ${plural(scores.rows, "row")} and ${plural(scores.labels, "label")}, ${report.whose}.`,
          [false, true, false],
        ),
      ),
      reliabilityFigure(report, state),
    ),
    labelsFigure(report, state),
    labelTable(report),
  );
}

/** 95 % interval of a share, after Wilson. */
function interval(share: number, count: number): [number, number] {
  const z = 1.96;
  const middle = (share + (z * z) / (2 * count)) / (1 + (z * z) / count);
  const half = (z / (1 + (z * z) / count)) * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

function reliabilityFigure(report: LabelReport, state: State): HTMLElement {
  const { labels } = report.data;
  const body = h("div", {});
  let current: Reliability = labels.reliability;
  const chooser = h(
    "select",
    { "aria-label": "Label whose calibration is shown" },
    h("option", { value: -1 }, "all labels"),
    ...report.frequent.map((c) => h("option", { value: c }, report.names[c])),
  );
  const made = figure({
    name: "calibration",
    title: "Calibration",
    controls: h("span", { class: "controls" }, chooser),
    body,
    drawings: () => [body.querySelector("svg") as SVGSVGElement],
    rows: function* () {
      yield ["from", "to", "labels_of_rows", "mean_probability", "share_true"];
      for (const [i, [count, said, so]] of current.bins.entries())
        yield [
          i / current.bins.length,
          (i + 1) / current.bins.length,
          count,
          count > 0 ? said : null,
          count > 0 ? so : null,
        ];
    },
  });
  const draw = () => {
    const which = Number(chooser.value);
    current = which < 0 ? labels.reliability : labels.reliability_by_label[which];
    const of = which < 0 ? "all labels" : `“${report.names[which]}”`;
    const points = current.bins
      .filter(([count]) => count > 0)
      .map(([count, said, so]) => {
        const [low, high] = interval(so, count);
        return { count, said, so, low, high };
      });
    const total = points.reduce((sum, point) => sum + point.count, 0);
    const worst = points.filter((point) => point.said < point.low || point.said > point.high);
    const sentence =
      `For ${of}: of the predictions at x %, y % have the label; on the line the two agree. Dots grow with the ` +
      `number of cases (${total.toLocaleString("en")} in all), bars are 95 % intervals. On average predicted and observed frequencies are ` +
      `${(100 * current.error).toFixed(1)} points apart; ` +
      (worst.length === 0
        ? "no bin is off the line by more than chance allows."
        : `${worst.length} of ${points.length} bins are off the line by more than chance allows.`);
    body.replaceChildren(
      chart({
        title: `Calibration of ${of}`,
        description:
          `${sentence} ` +
          points
            .map((point) => `predicted ${percent(point.said)}, observed ${percent(point.so)} of ${point.count}`)
            .join("; "),
        width: 420,
        height: 380,
        marginLeft: 52,
        marginBottom: 42,
        x: { domain: [0, 100], label: "predicted, %", percent: true, grid: true },
        y: { domain: [0, 100], label: "observed, %", percent: true, grid: true },
        r: { range: [2.5, 11] },
        marks: [
          Plot.line(
            [
              [0, 0],
              [1, 1],
            ],
            { stroke: "currentColor", strokeDasharray: "4,4", strokeOpacity: 0.6 },
          ),
          Plot.ruleX(points, { x: "said", y1: "low", y2: "high", stroke: "var(--sure)", strokeWidth: 1.5 }),
          Plot.dot(points, {
            x: "said",
            y: "so",
            r: "count",
            fill: "var(--sure)",
            fillOpacity: 0.8,
            stroke: "var(--ground)",
          }),
        ],
      }),
    );
    made.say(sentence);
  };
  chooser.addEventListener("change", draw);
  state.on("theme", draw);
  draw();
  return made.element;
}

/** The labels that most rows have: how many of those predicted are right, and how many are found. */
function labelsFigure(report: LabelReport, state: State): HTMLElement {
  const { by_label } = report.data.labels;
  const shown = report.frequent.slice(0, mostDrawn);
  const best = shown.reduce((a, b) => (by_label[b].f1 > by_label[a].f1 ? b : a));
  const worst = shown.reduce((a, b) => (by_label[b].f1 < by_label[a].f1 ? b : a));
  const sentence =
    `F1 of each label (bar), precision (circle: the fraction of its predictions that are correct) and recall (square: the fraction of its rows that are found)` +
    `${shown.length < report.names.length ? `; the ${shown.length} most frequent of ${report.names.length}` : ""}. ` +
    `Best is “${report.names[best]}” with ${by_label[best].f1.toFixed(2)}, worst “${report.names[worst]}” with ${by_label[worst].f1.toFixed(2)}.`;
  const points = shown.map((c) => ({
    label: `${report.tick(c, 18)} (${by_label[c].positives.toLocaleString("en")})`,
    ...by_label[c],
  }));
  const body = h("div", {});
  const draw = () =>
    body.replaceChildren(
      chart({
        title: "F1, precision and recall of each label",
        description: sentence,
        width: Math.max(320, Math.min(760, document.documentElement.clientWidth - 40)),
        height: 40 + 20 * points.length,
        marginLeft: 165,
        marginTop: 8,
        x: { domain: [0, 1], label: null, grid: true },
        y: { domain: points.map((point) => point.label), label: null },
        marks: [
          Plot.barX(points, {
            x: "f1",
            y: "label",
            fill: "var(--sure)",
            fillOpacity: 0.35,
            insetTop: 2,
            insetBottom: 2,
          }),
          Plot.dot(points, { x: "precision", y: "label", stroke: "var(--text)", strokeWidth: 2, r: 4 }),
          Plot.dot(points, { x: "recall", y: "label", fill: "var(--sure)", symbol: "square", r: 4 }),
        ],
      }),
    );
  const made = figure({
    name: "labels",
    title: "Label by label",
    body,
    drawings: () => [body.querySelector("svg") as SVGSVGElement],
    rows: function* () {
      yield [
        "label",
        "rows_known",
        "rows_with_it",
        "rows_predicted",
        "precision",
        "recall",
        "f1",
        "mean_probability",
        "log_loss",
        "threshold",
      ];
      for (const [c, entry] of by_label.entries())
        yield [
          report.names[c],
          entry.known,
          entry.positives,
          entry.chosen,
          entry.precision,
          entry.recall,
          entry.f1,
          entry.mean_probability,
          entry.log_loss,
          report.data.labels.thresholds[c],
        ];
    },
  });
  state.on("theme", draw);
  draw();
  made.say(sentence);
  return made.element;
}

function labelTable(report: LabelReport): HTMLElement {
  const { by_label, thresholds } = report.data.labels;
  const listed = report.frequent.slice(0, mostListed);
  return h(
    "details",
    {},
    h("summary", {}, "The same as a table, with thresholds"),
    scroller(
      "Label by label",
      table(
        [
          "label",
          "rows with it",
          "predicted",
          "precision",
          "recall",
          "F1",
          "mean probability",
          "log loss",
          "threshold",
        ],
        listed.map((c) => {
          const entry = by_label[c];
          return [
            h("bdi", {}, report.names[c]),
            entry.positives.toLocaleString("en"),
            entry.chosen.toLocaleString("en"),
            entry.precision.toFixed(2),
            entry.recall.toFixed(2),
            entry.f1.toFixed(2),
            percent(entry.mean_probability),
            entry.log_loss.toFixed(3),
            brief(thresholds[c]),
          ];
        }),
        `Over rows whose label is known, ${report.whose}. ${report.data.labels.rule}` +
          (listed.length < report.names.length
            ? ` The ${listed.length} most frequent of ${report.names.length} labels; the CSV above has all.`
            : ""),
        [false, true, true, true, true, true, true, true, true],
      ),
    ),
  );
}
