// Views: the table redrawn as groups of columns side by side, each with its own clusters of the rows, and how often two
// columns share a view.
import { percent, plural, unpack, type Report, type View } from "../data";
import { h, scroller, styled, svg } from "../dom";
import { figure } from "../figure";
import { shortened, textWidth, thinning } from "../fit";
import { Shades, type Band } from "../heatmap";
import { MatrixFrame } from "../matrix_frame";
import { nameList } from "../name_list";
import { amounts, amountColor, rgb, themeColor } from "../palette";
import type { State } from "../state";

const gutter = 26; // for the numbers of clusters

interface SeenView {
  view: View;
  labels: Int32Array;
  order: Int32Array; // rows by cluster, the largest first, in the order of the tree within a cluster
  bands: { cluster: number; first: number; end: number }[];
}

function see(report: Report, view: View): SeenView {
  const labels = new Int32Array(unpack(view.labels));
  const sizes = new Map<number, number>();
  for (const label of labels) sizes.set(label, (sizes.get(label) ?? 0) + 1);
  const clusters = [...sizes.keys()].sort((a, b) => (sizes.get(b) as number) - (sizes.get(a) as number) || a - b);
  const order = new Int32Array(report.rows);
  const bands: SeenView["bands"] = [];
  let at = 0;
  for (const cluster of clusters) {
    const first = at;
    for (let row = 0; row < labels.length; row++) if (labels[row] === cluster) order[at++] = row;
    bands.push({ cluster, first, end: at });
  }
  return { view, labels, order, bands };
}

function names(report: Report, view: View): string[] {
  return view.columns.map((column) => report.data.columns[column].name);
}

const columnWidth = 13;
const headSize = 10.5;

/** Names of the columns above a view, all of them: columns are wide enough. */
function viewHeads(listed: string[], width: number, height: number): SVGSVGElement {
  const each = width / listed.length;
  const step = thinning(each, headSize + 1);
  return svg(
    "svg",
    { class: "side", width: width + gutter, height, "aria-hidden": "true" },
    ...listed.flatMap((name, j) =>
      j % step === 0
        ? [
            svg(
              "text",
              {
                transform: `translate(${gutter + (j + 0.5) * each + 3.5},${height - 4}) rotate(-90)`,
                class: "side-name",
              },
              shortened(name, height - 6, headSize),
            ),
          ]
        : [],
    ),
  );
}

/** A view as a heatmap: its columns, rows by cluster, numbers of the clusters on the left. */
function drawView(
  report: Report,
  shades: Shades,
  seen: SeenView,
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): void {
  const sharp = 2;
  canvas.width = (width + gutter) * sharp;
  canvas.height = height * sharp;
  styled(canvas, { width: `${width + gutter}px`, height: `${height}px` });
  const context = canvas.getContext("2d");
  if (context === null) return;
  const cells = h("canvas", {});
  cells.width = width * sharp;
  cells.height = height * sharp;
  cells.dataset.height = String(height);
  const band: Band = { first: 0, end: report.rows, top: 0, height };
  shades.draw(cells, [band], rgb(themeColor("--blank")), { rows: seen.order, columns: seen.view.columns });
  context.drawImage(cells, gutter * sharp, 0);
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.font = `${headSize * sharp}px ${getComputedStyle(document.body).fontFamily}`;
  let last = -Infinity; // end of the numbers so far
  for (const { cluster, first, end } of seen.bands) {
    const top = (first / report.rows) * canvas.height;
    const bottom = (end / report.rows) * canvas.height;
    context.fillStyle = themeColor("--ground");
    if (first > 0) context.fillRect(gutter * sharp, Math.round(top) - 2, canvas.width, 4);
    context.fillStyle = themeColor("--quiet");
    context.fillRect((gutter - 4) * sharp, top + 2, 1.5 * sharp, Math.max(1, bottom - top - 4));
    const middle = (top + bottom) / 2;
    if (middle - 6 * sharp < last) continue;
    context.fillText(String(cluster), (gutter - 6) * sharp, Math.max(middle, 6 * sharp));
    last = middle + 6 * sharp;
  }
}

function tableFigure(report: Report, state: State, views: SeenView[]): HTMLElement {
  const shades = new Shades(report);
  const canvases: (HTMLCanvasElement | SVGSVGElement)[] = [];
  const redraws: (() => void)[] = [];
  const tip = h("div", { class: "tip", role: "status" });
  const height = views.length > 8 ? 240 : 420;
  const longest = Math.max(
    ...views.flatMap(({ view }) => names(report, view).map((name) => textWidth(name, headSize))),
  );
  const headHeight = Math.ceil(Math.min(130, longest)) + 8;
  const panels = views.map((seen, index) => {
    const columns = seen.view.columns.length;
    const width = Math.round(Math.max(60, Math.min(columnWidth * columns, 1000)));
    const words = `View ${index + 1}: ${plural(columns, "column")}, ${plural(seen.view.clusters, "cluster")} of rows`;
    const listed = names(report, seen.view);
    const canvas = h("canvas", {
      class: "cells",
      role: "img",
      "aria-label": `${words}. Columns: ${listed.slice(0, 40).join(", ")}`,
    });
    const heads = viewHeads(listed, width, headHeight);
    const draw = () => drawView(report, shades, seen, canvas, width, height);
    draw();
    canvases.push(heads, canvas);
    redraws.push(draw);
    canvas.addEventListener("pointermove", (event) => {
      const at = canvas.getBoundingClientRect();
      const place = Math.floor(((event.clientX - at.left - gutter) / (at.width - gutter)) * columns);
      const row =
        seen.order[
          Math.min(report.rows - 1, Math.max(0, Math.floor(((event.clientY - at.top) / at.height) * report.rows)))
        ];
      const column = seen.view.columns[Math.min(columns - 1, Math.max(0, place))];
      tip.textContent = `view ${index + 1}, cluster ${seen.labels[row]}: ${report.rowName(row)}, ${report.data.columns[column].name} ${report.cellText(row, column) || "missing"}`;
    });
    canvas.addEventListener("pointerleave", () => (tip.textContent = ""));
    return h(
      "div",
      { class: "view" },
      h("h4", {}, `View ${index + 1}`),
      styled(
        h(
          "p",
          { class: "view-columns" },
          `${plural(columns, "column")}${columns > 1 ? ` (${percent(seen.view.cohesion)} in one view)` : ""}, ${plural(seen.view.clusters, "cluster")}`,
        ),
        { "max-width": `${Math.max(116, width + gutter)}px` },
      ),
      scroller(words, heads, canvas),
    );
  });
  state.on("theme", () => redraws.forEach((draw) => draw()));
  const made = figure({
    name: "views",
    title: "The table as views",
    body: h("div", {}, h("div", { class: "views" }, ...panels), tip),
    drawings: () => canvases,
    rows: function* () {
      yield ["row", ...views.map((_, index) => `cluster in view ${index + 1}`)];
      for (let row = 0; row < report.rows; row++) yield [report.rowName(row), ...views.map((seen) => seen.labels[row])];
    },
  });
  made.say(
    `${plural(views.length, "view")} of the columns. Each has its own clusters of the same rows: rows are sorted by cluster, the largest on top, with the ` +
      "numbers of the clusters on the left. Light lines are the borders of clusters.",
  );
  return made.element;
}

function matrixFigure(report: Report): HTMLElement {
  const { matrix_columns: columns, coassignment } = report.data.views as NonNullable<Report["data"]["views"]>;
  const values = new Uint16Array(unpack(coassignment));
  const side = columns.length;
  const canvas = h("canvas", { class: "matrix", role: "img" });
  canvas.width = side;
  canvas.height = side;
  const image = new ImageData(side, side);
  for (let i = 0; i < values.length; i++) image.data.set([...amounts[values[i] >> 8], 255], 4 * i);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  const tip = h("div", { class: "tip", role: "status" });
  const name = (place: number) => report.data.columns[columns[place]].name;
  canvas.addEventListener("pointermove", (event) => {
    const at = canvas.getBoundingClientRect();
    const a = Math.min(side - 1, Math.max(0, Math.floor(((event.clientX - at.left) / at.width) * side)));
    const b = Math.min(side - 1, Math.max(0, Math.floor(((event.clientY - at.top) / at.height) * side)));
    tip.textContent = `${name(b)} and ${name(a)}: ${percent(values[b * side + a] / 65535)}`;
  });
  canvas.addEventListener("pointerleave", () => (tip.textContent = ""));
  const legend = h(
    "div",
    { class: "legend" },
    ...[0, 0.25, 0.5, 0.75, 1].map((share) =>
      h("span", { class: "key" }, styled(h("i", {}), { background: amountColor(share) }), percent(share)),
    ),
  );
  const frame = new MatrixFrame(720, canvas);
  frame.show({ names: columns.map((_, place) => name(place)) });
  const made = figure({
    name: "column-dependence",
    title: "Which columns belong together",
    body: h(
      "div",
      {},
      frame.element,
      tip,
      legend,
      nameList(
        "Columns from top to bottom",
        columns.map((_, place) => name(place)),
      ),
    ),
    drawings: () => [...frame.drawings, canvas],
    rows: function* () {
      yield ["column", ...columns.map((_, place) => name(place))];
      for (let b = 0; b < side; b++)
        yield [
          name(b),
          ...Array.from(values.subarray(b * side, (b + 1) * side), (v) => Number((v / 65535).toFixed(4))),
        ];
    },
  });
  const sentence =
    "Each cell shows how often two columns share a view, that is, depend on the same groups of rows: bright is always, dark is never." +
    (side < report.data.head.columns
      ? ` ${side.toLocaleString("en")} of ${plural(report.data.head.columns, "column")} are drawn.`
      : "");
  made.say(sentence);
  canvas.setAttribute("aria-label", sentence);
  return made.element;
}

export function viewsSection(report: Report, state: State): HTMLElement | null {
  if (report.data.views === null) return null;
  const views = report.data.views.views.map((view) => see(report, view));
  return h(
    "section",
    { id: "views", "aria-labelledby": "views-title" },
    h("h2", { id: "views-title" }, "The views"),
    tableFigure(report, state, views),
    matrixFigure(report),
  );
}
