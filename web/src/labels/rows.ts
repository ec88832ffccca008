// The labels predicted for a row and their probabilities, rows unlike all others, and rows with the largest errors.
import { chart, Plot } from "../chart";
import { brief, percent } from "../data";
import { h, scroller, styled, svg, table } from "../dom";
import { figure } from "../figure";
import { searchBox } from "../search";
import { showRow } from "../rows";
import type { State } from "../state";
import type { LabelReport } from "./data";
import { patternName } from "./patterns";

const mostBars = 12;
const mostListed = 12;

export function labelRowsSection(report: LabelReport, state: State): HTMLElement {
  const card = h("div", { id: "row-card", class: "row-card" });
  const draw = () => {
    if (state.row === null)
      card.replaceChildren(h("p", { class: "facts" }, "Search for a row, or choose one anywhere on this page."));
    else card.replaceChildren(rowFigure(report, state, state.row));
  };
  state.on("row", draw);
  state.on("theme", draw);
  draw();
  return h(
    "section",
    { id: "rows", "aria-labelledby": "rows-title" },
    h("h2", { id: "rows-title" }, "Rows"),
    ...searchBox(report, state, () => true),
    card,
    h("div", { class: "grid" }, noveltyFigure(report, state), listed(report, state)),
  );
}

function button(report: LabelReport, state: State, row: number): HTMLElement {
  return h(
    "button",
    { type: "button", class: "link", onclick: () => showRow(state, row) },
    h("bdi", {}, report.rowName(row)),
  );
}

function rowFigure(report: LabelReport, state: State, row: number): HTMLElement {
  const name = report.rowName(row);
  const order = report.names.map((_, c) => c).sort((a, b) => report.probability(row, b) - report.probability(row, a));
  const shown = order.slice(0, mostBars);
  for (const c of order) if (report.truth(row, c) === true && !shown.includes(c)) shown.push(c);
  const width = 640;
  const left = 170;
  const step = 24;
  const words = (c: number) => {
    const truth = report.truth(row, c);
    return (
      `${report.names[c]} ${percent(report.probability(row, c))}${report.chosen(row, c) ? ", predicted" : ""}` +
      (truth === null ? ", unknown" : truth ? ", has it" : ", does not have it")
    );
  };
  const drawing = svg("svg", {
    class: "bars",
    role: "img",
    viewBox: `0 0 ${width} ${shown.length * step + 4}`,
    "aria-label": `Labels of ${name}: ${shown.map(words).join("; ")}`,
  });
  shown.forEach((c, i) => {
    const y = i * step + 3;
    const p = report.probability(row, c);
    const truth = report.truth(row, c);
    const wide = (width - left - 130) * p;
    drawing.append(
      svg("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, report.tick(c, 24)),
      styled(svg("rect", { x: left, y, width: Math.max(1, wide), height: 18 }, svg("title", {}, words(c))), {
        fill: "var(--sure)",
        "fill-opacity": report.chosen(row, c) ? "1" : "0.35",
      }),
      svg(
        "text",
        { x: left + wide + 6, y: y + 14 },
        `${percent(p)}${truth === null ? " · ?" : truth ? " · has it" : ""}${report.chosen(row, c) !== (truth === true) && truth !== null ? " ✗" : ""}`,
      ),
    );
    const threshold = report.data.labels.thresholds[c];
    if (report.data.labels.stacked && threshold !== null) {
      const at = left + (width - left - 130) * Math.min(1, threshold);
      drawing.append(
        styled(svg("line", { x1: at, x2: at, y1: y - 2, y2: y + 20, "stroke-dasharray": "2,2" }), {
          stroke: "currentColor",
        }),
      );
    }
  });
  const clusters = report.clusters(row);
  const chosen = report.names.filter((_, c) => report.chosen(row, c));
  const made = figure({
    name: "row",
    title: name,
    body: h(
      "div",
      {},
      styled(drawing, { width: "100%", "max-width": `${width}px` }),
      h("h4", {}, "Its clusters, by its features"),
      h(
        "ul",
        { class: "parts" },
        ...clusters.slice(0, 4).map(({ cluster, share }) => {
          const pattern = report.patternOf(cluster);
          const place = pattern === undefined ? -1 : report.data.labels.patterns.indexOf(pattern);
          return h(
            "li",
            {},
            pattern === undefined
              ? `cluster ${cluster}`
              : h(
                  "button",
                  { type: "button", class: "link", onclick: () => state.chooseNode(place) },
                  patternName(report, pattern),
                ),
            ` ${percent(share)}`,
          );
        }),
      ),
      valuesTable(report, row),
    ),
    drawings: () => [drawing],
    rows: function* () {
      yield ["row", "label", "probability", "predicted", "known"];
      for (const c of order) {
        const truth = report.truth(row, c);
        yield [
          name,
          report.names[c],
          report.probability(row, c),
          report.chosen(row, c) ? 1 : 0,
          truth === null ? null : truth ? 1 : 0,
        ];
      }
    },
  });
  const below =
    report.densities.reduce((count, value) => count + (value < report.densities[row] ? 1 : 0), 0) / report.rows;
  made.say(
    `Bars are probabilities${report.data.labels.held_out ? " by a fit without this row" : ""}, full where the label is predicted` +
      `${report.data.labels.stacked && report.data.labels.thresholds[0] !== null ? " (dashed: the threshold)" : ""}; ✗ where the prediction is wrong. Predicted: ${chosen.length === 0 ? "none" : chosen.join(", ")}. ` +
      `Log density of its features ${brief(report.densities[row])}: ${percent(below)} of the rows have a lower density.`,
  );
  return made.element;
}

/** Its most informative cells: those in the columns that distinguish clusters best. */
function valuesTable(report: LabelReport, row: number): HTMLElement {
  const present = report.data.columns.map((column, j) => ({ column, value: report.cell(row, j) }));
  const chosen = present
    .filter(({ column, value }) => Number.isNaN(value) || column.kind === "real" || value !== 0)
    .slice(0, 8);
  return scroller(
    "Its values",
    table(
      ["column", "this row"],
      chosen.map(({ column, value }) => [h("bdi", {}, column.name), Number.isNaN(value) ? "missing" : brief(value)]),
      "Its values in the most distinguishing columns" + (chosen.length < present.length ? " (zeros are left out)" : ""),
      [false, true],
    ),
  );
}

function noveltyFigure(report: LabelReport, state: State): HTMLElement {
  const body = h("div", {});
  const sorted = [...report.densities].sort((a, b) => a - b);
  const at = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  const strangest = report.densities.indexOf(sorted[0]);
  const draw = () => {
    const marks = [
      Plot.rectY(
        sorted.map((value) => ({ value })),
        Plot.binX({ y: "count" }, {
          x: "value",
          thresholds: 40,
          fill: "var(--sure)",
          fillOpacity: 0.7,
        } as Plot.BinXInputs<Plot.RectYOptions>),
      ),
      Plot.ruleY([0]),
      state.row === null
        ? null
        : Plot.ruleX([report.densities[state.row]], { stroke: "var(--mark)", strokeWidth: 2.5 }),
    ];
    const sentence =
      `Log density of the features of the rows, without labels: rows unlike all others are on the left. Half of the rows are above ${brief(at(0.5))}, ` +
      `one in twenty is below ${brief(at(0.05))}; the most unusual is “${report.rowName(strangest)}” with ${brief(sorted[0])}.` +
      (state.row === null ? "" : ` The line is “${report.rowName(state.row)}”.`);
    body.replaceChildren(
      chart({
        title: "How typical the rows are",
        description: sentence,
        width: 460,
        height: 240,
        marginLeft: 50,
        x: { label: "log density of the features" },
        y: { label: "rows", grid: true },
        marks,
      }),
    );
    made.say(sentence);
  };
  const made = figure({
    name: "novelty",
    title: "How typical the rows are",
    body,
    drawings: () => [body.querySelector("svg") as SVGSVGElement],
    rows: function* () {
      yield ["row", "log_density"];
      for (let row = 0; row < report.rows; row++) yield [report.rowName(row), report.densities[row]];
    },
  });
  state.on("row", draw);
  state.on("theme", draw);
  draw();
  return made.element;
}

function listed(report: LabelReport, state: State): HTMLElement {
  const rows = Array.from({ length: report.rows }, (_, row) => row);
  const strange = rows
    .slice()
    .sort((a, b) => report.densities[a] - report.densities[b])
    .slice(0, mostListed);
  const wrong = rows
    .map((row) => ({ row, loss: report.loss(row) }))
    .filter((entry): entry is { row: number; loss: number } => entry.loss !== null)
    .sort((a, b) => b.loss - a.loss)
    .slice(0, mostListed);
  return h(
    "div",
    {},
    h("h3", {}, "Rows with the largest errors"),
    scroller(
      "Rows with the largest errors",
      table(
        ["row", "log loss"],
        wrong.map(({ row, loss }) => [button(report, state, row), loss.toFixed(2)]),
        `Mean log loss of a row's known labels, ${report.whose}.`,
        [false, true],
      ),
    ),
    h("h3", {}, "Rows unlike all others"),
    scroller(
      "Rows unlike all others",
      table(
        ["row", "log density"],
        strange.map((row) => [button(report, state, row), brief(report.densities[row])]),
        "The rows whose features have the lowest density.",
        [false, true],
      ),
    ),
  );
}
