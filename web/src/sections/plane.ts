// The rows as points of a plane: two columns, or the two principal axes of all columns. Colors are clusters, hollow points
// are rows whose cluster is uncertain, and ellipses show where clusters are and how far they reach.
import { chart, Plot } from "../chart";
import { percent, plural, type Report } from "../data";
import { h, lazily, styled } from "../dom";
import { figure } from "../figure";
import { shortened } from "../fit";
import { clusterColor, themeColor } from "../palette";
import { principalAxes, type Axis } from "../principal_axes";
import type { State } from "../state";

const deviations = 2;
const sureShare = 0.8; // rows that are in their cluster less often are hollow
const mostNamed = 30; // clusters with a number in the drawing
const margins = { left: 56, right: 20, top: 24, bottom: 40 };

interface Dimension {
  label: string;
  values: (row: number) => number;
}

interface Ellipse {
  node: number;
  level: number;
  center: [number, number];
  // Halves of the axes, as vectors.
  axes: [[number, number], [number, number]];
}

/** Where a cluster is and how far it reaches; nothing for clusters of fewer than three rows. */
function ellipseOf(report: Report, id: number, x: Dimension, y: Dimension): Ellipse | null {
  const node = report.nodes[id];
  let [n, mx, my, xx, yy, xy] = [0, 0, 0, 0, 0, 0];
  for (let row = node.first; row < node.end; row++) {
    const [a, b] = [x.values(row), y.values(row)];
    if (Number.isNaN(a) || Number.isNaN(b)) continue;
    n++;
    const [da, db] = [a - mx, b - my];
    mx += da / n;
    my += db / n;
    xx += da * (a - mx);
    yy += db * (b - my);
    xy += da * (b - my);
  }
  if (n < 3) return null;
  [xx, yy, xy] = [xx / n, yy / n, xy / n];
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const along = deviations * Math.sqrt(Math.max(0, xx * c * c + 2 * xy * c * s + yy * s * s));
  const across = deviations * Math.sqrt(Math.max(0, xx * s * s - 2 * xy * c * s + yy * c * c));
  return {
    node: id,
    level: node.level,
    center: [mx, my],
    axes: [
      [along * c, along * s],
      [-across * s, across * c],
    ],
  };
}

function outline({ center, axes: [a, b] }: Ellipse): { x: number; y: number }[] {
  return Array.from({ length: 65 }, (_, i) => {
    const turn = (2 * Math.PI * i) / 64;
    return {
      x: center[0] + Math.cos(turn) * a[0] + Math.sin(turn) * b[0],
      y: center[1] + Math.cos(turn) * a[1] + Math.sin(turn) * b[1],
    };
  });
}

/** How often each row is in the cluster that it is reported in, at a level (from 1). */
function certainty(report: Report, level: number): Float32Array {
  const { membership, node_of } = report.data.levels[level - 1];
  const nodes = report.nodesAt(level);
  return Float32Array.from({ length: report.rows }, (_, row) => {
    for (let k = 0; k < membership[row].length; k += 2)
      if (membership[row][k] >= 0 && node_of[membership[row][k]] === nodes[row]) return membership[row][k + 1];
    return 0;
  });
}

export function planeSection(report: Report, state: State, colors: Int32Array): HTMLElement | null {
  const { columns } = report.data;
  const numeric = columns.map((_, j) => j).filter((j) => columns[j].kind === "real" || columns[j].kind === "count");
  if (report.rows < 3 || columns.length < 2 || report.nodes.length < 2) return null;
  const isPair = report.data.head.columns === 2 && numeric.length === 2;
  let principal: Axis[] | null = null;
  const column = (j: number): Dimension => ({
    label: columns[j].name,
    values: (row) => report.cells[row * report.width + j],
  });
  const axis = (k: number): Dimension => {
    principal ??= principalAxes(report);
    const found = principal[k];
    return {
      label: found
        ? `principal axis ${k + 1} (${percent(found.share)} of the variance, mostly ${found.strongest})`
        : "nothing varies",
      values: (row) => found?.scores[row] ?? NaN,
    };
  };
  const options = (name: string, chosen: number) =>
    h(
      "select",
      { "aria-label": name },
      ...[0, 1].map((k) => h("option", { value: -1 - k, selected: chosen === -1 - k }, `principal axis ${k + 1}`)),
      ...numeric.map((j) => h("option", { value: j, selected: chosen === j }, columns[j].name)),
    );
  const across = options("Column across", isPair ? 0 : -1);
  const up = options("Column up", isPair ? 1 : -2);
  const dimension = (select: HTMLSelectElement): Dimension =>
    Number(select.value) < 0 ? axis(-1 - Number(select.value)) : column(Number(select.value));

  const deepest = report.data.levels.length;
  const clusters = report.nodes
    .map((node, id) => ({ node, id }))
    .filter(({ node }) => node.parent !== null && node.level > 0);
  const sure = certainty(report, 1);
  const canvas = h("canvas", { class: "points", "aria-hidden": "true" });
  const frame = h("div", { class: "plane" });
  let ellipses: Ellipse[] = [];
  let drawing: SVGSVGElement;
  let [x, y] = [dimension(across), dimension(up)];
  let scales: { x: (v: number) => number; y: (v: number) => number };
  const isChosen = (id: number) => report.path(id).includes(state.node);

  function drawAxes(): void {
    const width = Math.max(300, Math.min(900, frame.clientWidth || 720));
    const height = Math.round(width * 0.7);
    const ends = (d: Dimension) => {
      let [low, high] = [Infinity, -Infinity];
      for (let row = 0; row < report.rows; row++) {
        const value = d.values(row);
        if (value < low) low = value;
        if (value > high) high = value;
      }
      return high > low ? [low, high] : [low - 0.5, low + 0.5];
    };
    // Names are wanted for the clusters that are chosen, or for all.
    const named = ellipses.filter((ellipse) => ellipse.level === 1 || isChosen(ellipse.node)).slice(0, mostNamed);
    drawing = chart({
      title: `${y.label} against ${x.label}`,
      description: sentence(),
      width,
      height,
      marginLeft: margins.left,
      marginRight: margins.right,
      marginTop: margins.top,
      marginBottom: margins.bottom,
      grid: true,
      x: { label: shortened(x.label, width - 80, 10), nice: true, domain: ends(x) },
      y: { label: shortened(y.label, width - 40, 10), nice: true, domain: ends(y) },
      marks: [
        ...ellipses.map((ellipse) =>
          Plot.line(outline(ellipse), {
            x: "x",
            y: "y",
            stroke: clusterColor(colors[ellipse.node]),
            strokeWidth: ellipse.level === 1 ? 2.5 : 1.2,
            strokeOpacity: isChosen(ellipse.node) ? 1 : 0.15,
            clip: true,
          }),
        ),
        Plot.text(named, {
          x: (ellipse: Ellipse) => ellipse.center[0],
          y: (ellipse: Ellipse) => ellipse.center[1],
          text: (ellipse: Ellipse) => report.nodes[ellipse.node].number,
          fontSize: 13,
          fontWeight: 700,
          fill: "var(--text)",
          stroke: "var(--ground)",
          strokeWidth: 4,
          fillOpacity: (ellipse: Ellipse) => (isChosen(ellipse.node) ? 1 : 0.35),
        }),
      ],
    });
    const made = drawing as unknown as { scale(name: string): { apply(v: number): number } };
    scales = { x: made.scale("x").apply, y: made.scale("y").apply };
    frame.replaceChildren(canvas, drawing);
    drawPoints(width, height);
  }

  function drawPoints(width: number, height: number): void {
    const sharp = Math.max(1, window.devicePixelRatio || 1);
    canvas.width = width * sharp;
    canvas.height = height * sharp;
    styled(canvas, { width: `${width}px`, height: `${height}px` });
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.scale(sharp, sharp);
    const r = report.rows > 4000 ? 1.6 : report.rows > 1000 ? 2.2 : 3.2;
    const chosen = report.nodes[state.node];
    const nodes = report.nodesAt(1);
    const quiet = themeColor("--quiet");
    context.lineWidth = r > 2 ? 1.3 : 0.9;
    // The chosen rows come last, on top of the others.
    for (const inside of [false, true])
      for (let row = 0; row < report.rows; row++) {
        if ((row >= chosen.first && row < chosen.end) !== inside) continue;
        const [a, b] = [x.values(row), y.values(row)];
        if (Number.isNaN(a) || Number.isNaN(b)) continue;
        const color = nodes[row] < 0 || colors[nodes[row]] < 0 ? quiet : clusterColor(colors[nodes[row]]);
        context.globalAlpha = row === state.row ? 1 : inside ? (report.rows > 4000 ? 0.6 : 0.8) : 0.12;
        context.beginPath();
        context.arc(scales.x(a), scales.y(b), row === state.row ? r + 3 : r, 0, 2 * Math.PI);
        if (sure[row] >= sureShare) {
          context.fillStyle = color;
          context.fill();
        } else {
          context.strokeStyle = color;
          context.stroke();
        }
        if (row === state.row) {
          context.strokeStyle = themeColor("--mark");
          context.stroke();
        }
      }
  }

  function sentence(): string {
    const hollow = sure.reduce((count, share) => count + (share < sureShare ? 1 : 0), 0);
    return (
      `Every point is a row; its color is that of its ${deepest > 1 ? "cluster at level 1" : "cluster"}, and it is hollow if it is there in less than ` +
      `${percent(sureShare)} ${report.draws} (${plural(hollow, "row")}). An ellipse reaches two standard deviations from the mean ` +
      `of a cluster's rows${deepest > 1 ? ": thick lines are level 1, thinner lines the levels below" : ""}. ` +
      (report.rows < report.data.rows.total
        ? `${plural(report.rows, "row")} of ${plural(report.data.rows.total, "row")} are drawn. `
        : "") +
      "Clusters of fewer than three rows have no ellipse."
    );
  }

  function measure(): void {
    [x, y] = [dimension(across), dimension(up)];
    ellipses = clusters
      .map(({ id }) => ellipseOf(report, id, x, y))
      .filter((ellipse): ellipse is Ellipse => ellipse !== null);
  }
  function redraw(): void {
    measure();
    drawAxes();
    made.say(sentence());
  }
  for (const select of [across, up]) select.addEventListener("change", redraw);
  const made = figure({
    name: "plane",
    title: "Rows in a plane",
    controls: h("span", { class: "controls" }, h("label", {}, "Across ", across), h("label", {}, "Up ", up)),
    body: frame,
    drawings: () => {
      axes.flush();
      return [canvas, drawing];
    },
    rows: function* () {
      yield ["row", x.label, y.label, "cluster", "name", "probability"];
      const nodes = report.nodesAt(1);
      for (let row = 0; row < report.rows; row++)
        yield [
          report.rowName(row),
          x.values(row),
          y.values(row),
          nodes[row] < 0 ? "" : report.nodes[nodes[row]].number,
          nodes[row] < 0 ? "" : report.plainName(nodes[row]),
          Number(sure[row].toFixed(3)),
        ];
    },
  });
  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (frame.clientWidth === 0 || frame.clientWidth === drawnWidth) return;
    drawnWidth = frame.clientWidth;
    drawAxes();
  }).observe(frame);
  redraw();
  const axes = lazily(made.element, drawAxes);
  state.on("node", axes.request);
  state.on("row", axes.request);
  state.on("theme", axes.request);
  return h(
    "section",
    { id: "plane", "aria-labelledby": "plane-title" },
    h("h2", { id: "plane-title" }, "The plane"),
    made.element,
  );
}
