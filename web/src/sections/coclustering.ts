// How sure is it: how often two rows share a cluster, rows in the order of the tree, at each level.
import { h, lazily, styled } from "../dom";
import { percent, type Report } from "../data";
import { figure } from "../figure";
import { MatrixFrame, type Group, type Sides } from "../matrix_frame";
import { amounts, amountColor, themeColor } from "../palette";
import type { State } from "../state";

const mostNamedRows = 58;

export function coclusteringSection(report: Report, state: State): HTMLElement {
  const { levels } = report.data;
  const matrix = (level: number): Uint16Array => report.coclustering(level);
  const bins = levels[0].coclustering.bins;
  const total = report.data.rows.total;
  const canvas = h("canvas", { class: "matrix", role: "img" });
  const mark = h("canvas", { class: "veil", "aria-hidden": "true" });
  const tip = h("div", { class: "tip", role: "status" });
  const value = h("output", { for: "level-slider" });
  const slider = h("input", {
    type: "range",
    id: "level-slider",
    min: 1,
    max: levels.length,
    step: 1,
    value: 1,
    oninput: () => state.chooseLevel(Number(slider.value)),
  });
  const side = 640;
  const frame = new MatrixFrame(side, canvas, mark);

  const rowsOf = (bin: number): [number, number] => {
    // Bin b holds places p with floor(p * bins / total) = b.
    const first = Math.ceil((bin * total) / bins);
    return [first, Math.ceil(((bin + 1) * total) / bins)];
  };

  function draw(): void {
    const values = matrix(state.level);
    canvas.width = bins;
    canvas.height = bins;
    const image = new ImageData(bins, bins);
    for (let i = 0; i < values.length; i++) {
      const [r, g, b] = amounts[values[i] >> 8];
      image.data.set([r, g, b, 255], 4 * i);
    }
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    value.textContent = `level ${state.level} of ${levels.length}`;
    slider.value = String(state.level);
    slider.setAttribute("aria-valuetext", value.textContent);
    const sentence = describe(values);
    made.say(sentence);
    canvas.setAttribute("aria-label", sentence);
    frame.show(sides());
    drawMark();
  }

  /** Names of the rows if there is a line for each and room for its name, else the clusters of the level. */
  function sides(): Sides {
    if (bins === report.rows && bins <= mostNamedRows)
      return { names: Array.from({ length: bins }, (_, row) => report.rowName(row)) };
    const groups: Group[] = [];
    const nodes = report.nodesAt(state.level);
    for (let first = 0; first < report.rows;) {
      let end = first + 1;
      while (end < report.rows && nodes[end] === nodes[first]) end++;
      const id = nodes[first];
      if (id >= 0)
        groups.push({
          from: first / report.rows,
          to: end / report.rows,
          name: report.nodeName(id),
          short: report.shortName(id),
        });
      first = end;
    }
    return { groups };
  }

  function describe(values: Uint16Array): string {
    let sure = 0;
    let pairs = 0;
    for (let a = 0; a < bins; a++)
      for (let b = 0; b < a; b++) {
        const p = values[a * bins + b] / 65535;
        if (p < 0.05 || p > 0.95) sure++;
        pairs++;
      }
    const level = levels[state.level - 1];
    return (
      `Each cell says how often two ${bins < total ? "groups of neighboring rows" : "rows"} share a cluster` +
      `${levels.length > 1 ? ` at level ${state.level}` : ""}: bright is always, dark is never. Sharp blocks are clusters ` +
      `${report.data.head.greedy ? "that are certain given the tree" : "the draws agree on"} (${level.clusters - level.unassigned} are reported). ` +
      (pairs > 0
        ? `${percent(sure / pairs)} of the pairs are decided (together in less than 5 % or more than 95 % ${report.draws}).`
        : "") +
      (state.node === 0 ? "" : ` The frame is “${report.nodeName(state.node)}”.`)
    );
  }

  function drawMark(): void {
    const sharp = 2;
    mark.width = side * sharp;
    mark.height = side * sharp;
    const context = mark.getContext("2d");
    if (context === null || state.node === 0) return;
    const node = report.nodes[state.node];
    const from = (node.first / report.rows) * mark.width;
    const to = (node.end / report.rows) * mark.width;
    context.strokeStyle = themeColor("--mark");
    context.lineWidth = 3 * sharp;
    context.strokeRect(from, from, to - from, to - from);
  }

  mark.addEventListener("pointermove", (event) => {
    const at = mark.getBoundingClientRect();
    const a = Math.min(bins - 1, Math.max(0, Math.floor(((event.clientX - at.left) / at.width) * bins)));
    const b = Math.min(bins - 1, Math.max(0, Math.floor(((event.clientY - at.top) / at.height) * bins)));
    const name = (bin: number) => {
      const [first, end] = rowsOf(bin);
      return end - first > 1 || total !== report.rows ? `rows ${first + 1} to ${end}` : report.rowName(first);
    };
    tip.textContent = `${name(b)} and ${name(a)}: ${percent(matrix(state.level)[b * bins + a] / 65535)}`;
  });
  mark.addEventListener("pointerleave", () => (tip.textContent = ""));

  const legend = h(
    "div",
    { class: "legend" },
    ...[0, 0.25, 0.5, 0.75, 1].map((share) =>
      h("span", { class: "key" }, styled(h("i", {}), { background: amountColor(share) }), percent(share)),
    ),
  );
  const made = figure({
    name: "coclustering",
    title: "Which rows are clustered together",
    controls:
      levels.length > 1
        ? h("span", { class: "controls" }, h("label", { for: "level-slider" }, "Level "), slider, " ", value)
        : undefined,
    body: h("div", {}, frame.element, tip, legend),
    drawings: () => [...frame.drawings, canvas],
    rows: function* () {
      const names = Array.from({ length: bins }, (_, bin) => {
        const [first, end] = rowsOf(bin);
        return end - first > 1 || total !== report.rows ? `${first + 1}-${end}` : report.rowName(first);
      });
      yield ["rows", ...names];
      const values = matrix(state.level);
      for (let b = 0; b < bins; b++)
        yield [
          names[b],
          ...Array.from(values.subarray(b * bins, (b + 1) * bins), (v) => Number((v / 65535).toFixed(4))),
        ];
    },
  });
  const drawing = lazily(made.element, draw);
  state.on("level", draw);
  state.on("node", () => {
    made.say(describe(matrix(state.level)));
    drawing.request();
  });
  state.on("names", drawing.request);
  state.on("theme", drawMark);
  draw();
  return h(
    "section",
    { id: "coclustering", "aria-labelledby": "coclustering-title" },
    h("h2", { id: "coclustering-title" }, "Co-clustering"),
    made.element,
  );
}
