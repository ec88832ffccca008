// Views: the table redrawn as groups of columns side by side, each with its own clusters of the rows, and how often two
// columns share a view.
import { percent, plural, unpack, type Report, type View } from "../data";
import { h, scroller, styled } from "../dom";
import { figure } from "../figure";
import { Shades, type Band } from "../heatmap";
import { amounts, amountColor, kindColor, rgb, themeColor } from "../palette";
import type { State } from "../state";

const drawnHeight = 420;
const stripWidth = 8;

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

/** A view as a heatmap: its columns, rows by cluster, a strip of cluster colors on the left. */
function drawView(report: Report, shades: Shades, seen: SeenView, canvas: HTMLCanvasElement, width: number): void {
  const sharp = 2;
  canvas.width = (width + stripWidth) * sharp;
  canvas.height = drawnHeight * sharp;
  styled(canvas, { width: `${width + stripWidth}px`, height: `${drawnHeight}px` });
  const context = canvas.getContext("2d");
  if (context === null) return;
  const cells = h("canvas", {});
  cells.width = width * sharp;
  cells.height = drawnHeight * sharp;
  cells.dataset.height = String(drawnHeight);
  const band: Band = { first: 0, end: report.rows, top: 0, height: drawnHeight };
  shades.draw(cells, [band], rgb(themeColor("--blank")), { rows: seen.order, columns: seen.view.columns });
  context.drawImage(cells, stripWidth * sharp, 0);
  for (const { first, end } of seen.bands) {
    const top = (first / report.rows) * canvas.height;
    context.fillStyle = themeColor("--ground");
    if (first > 0) context.fillRect(stripWidth * sharp, Math.round(top) - 1, canvas.width, 2);
    context.fillStyle = kindColor(seen.bands.findIndex((other) => other.first === first));
    context.fillRect(
      0,
      top + 1,
      (stripWidth - 2) * sharp,
      Math.max(1, ((end - first) / report.rows) * canvas.height - 2),
    );
  }
}

function tableFigure(report: Report, state: State, views: SeenView[]): HTMLElement {
  const shades = new Shades(report);
  const canvases: HTMLCanvasElement[] = [];
  const redraws: (() => void)[] = [];
  const tip = h("div", { class: "tip", role: "status" });
  const total = views.reduce((sum, { view }) => sum + view.columns.length, 0);
  const panels = views.map((seen, index) => {
    const columns = seen.view.columns.length;
    const width = Math.round(Math.max(48, Math.min(26 * columns, (1000 * columns) / total)));
    const words = `View ${index + 1}: ${plural(columns, "column")}, ${plural(seen.view.clusters, "cluster")} of rows`;
    const canvas = h("canvas", {
      class: "cells",
      role: "img",
      "aria-label": `${words}. Columns: ${names(report, seen.view).slice(0, 40).join(", ")}`,
    });
    const draw = () => drawView(report, shades, seen, canvas, width);
    draw();
    canvases.push(canvas);
    redraws.push(draw);
    canvas.addEventListener("pointermove", (event) => {
      const at = canvas.getBoundingClientRect();
      const place = Math.floor(((event.clientX - at.left - stripWidth) / (at.width - stripWidth)) * columns);
      const row =
        seen.order[
          Math.min(report.rows - 1, Math.max(0, Math.floor(((event.clientY - at.top) / at.height) * report.rows)))
        ];
      const column = seen.view.columns[Math.min(columns - 1, Math.max(0, place))];
      const cluster = seen.bands.findIndex((band) => band.cluster === seen.labels[row]) + 1;
      tip.textContent = `view ${index + 1}, cluster ${cluster}: ${report.rowName(row)}, ${report.data.columns[column].name} ${report.cellText(row, column) || "missing"}`;
    });
    canvas.addEventListener("pointerleave", () => (tip.textContent = ""));
    const listed = names(report, seen.view);
    return h(
      "div",
      { class: "view" },
      h("h4", {}, `View ${index + 1}`),
      canvas,
      styled(
        h(
          "p",
          { class: "view-columns" },
          `${plural(columns, "column")} (${percent(seen.view.cohesion)} in one view), ${plural(seen.view.clusters, "cluster")}: `,
          h("bdi", {}, listed.slice(0, 12).join(", ")),
          listed.length > 12 ? ` and ${listed.length - 12} more` : "",
        ),
        { "max-width": `${Math.max(150, width + stripWidth)}px` },
      ),
    );
  });
  state.on("theme", () => redraws.forEach((draw) => draw()));
  const made = figure({
    name: "views",
    title: "The table as views",
    body: h("div", {}, scroller("The table as views", h("div", { class: "views" }, ...panels)), tip),
    drawings: () => canvases,
    rows: function* () {
      yield ["row", ...views.map((_, index) => `cluster in view ${index + 1}`)];
      for (let row = 0; row < report.rows; row++)
        yield [
          report.rowName(row),
          ...views.map((seen) => seen.bands.findIndex((band) => band.cluster === seen.labels[row]) + 1),
        ];
    },
  });
  made.say(
    `${plural(views.length, "view")} of the columns. Each has its own clusters of the same rows: rows are sorted by cluster, the largest on top, and the strip ` +
      "on the left is the color of the cluster. Light lines are the borders of clusters.",
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
  const made = figure({
    name: "column-dependence",
    title: "Which columns belong together",
    body: h("div", {}, styled(h("div", { class: "heat square" }, canvas), { "max-width": "460px" }), tip, legend),
    drawings: () => [canvas],
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
