// Two columns of numbers are a plane: the rows as points, the clusters of every level as ellipses.
import { chart, Plot } from "../chart";
import { plural, type Report } from "../data";
import { h } from "../dom";
import { figure } from "../figure";
import { kindColor } from "../palette";
import type { State } from "../state";

const mostPoints = 5000;
const deviations = 2;

interface Point {
  x: number;
  y: number;
  row: number;
}

interface Ellipse {
  node: number;
  level: number;
  center: [number, number];
  // Halves of the axes, as vectors.
  axes: [[number, number], [number, number]];
}

export function isPlane(report: Report): boolean {
  const { columns } = report.data;
  return (
    columns.length === 2 &&
    report.data.head.columns === 2 &&
    columns.every(({ kind }) => kind === "real" || kind === "count")
  );
}

function points(report: Report, first: number, end: number): Point[] {
  const list: Point[] = [];
  for (let row = first; row < end; row++) {
    const [x, y] = [report.cells[row * 2], report.cells[row * 2 + 1]];
    if (!Number.isNaN(x) && !Number.isNaN(y)) list.push({ x, y, row });
  }
  return list;
}

/** Where a cluster is and how far it reaches; nothing for clusters of fewer than three rows. */
function ellipseOf(report: Report, id: number): Ellipse | null {
  const node = report.nodes[id];
  const inside = points(report, node.first, node.end);
  if (inside.length < 3) return null;
  const n = inside.length;
  const mean = (of: (p: Point) => number) => inside.reduce((sum, p) => sum + of(p), 0) / n;
  const [mx, my] = [mean((p) => p.x), mean((p) => p.y)];
  const xx = mean((p) => (p.x - mx) ** 2);
  const yy = mean((p) => (p.y - my) ** 2);
  const xy = mean((p) => (p.x - mx) * (p.y - my));
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

export function planeSection(report: Report, state: State, colors: Int32Array): HTMLElement | null {
  if (!isPlane(report)) return null;
  const [across, up] = report.data.columns;
  const clusters = report.nodes
    .map((node, id) => ({ node, id }))
    .filter(({ node }) => node.parent !== null && node.level > 0);
  const ellipses = clusters
    .map(({ id }) => ellipseOf(report, id))
    .filter((ellipse): ellipse is Ellipse => ellipse !== null);
  const all = points(report, 0, report.rows);
  const step = Math.max(1, Math.ceil(all.length / mostPoints));
  const shown = all.filter((_, i) => i % step === 0);
  const deepest = report.data.levels.length;
  const body = h("div", {});
  const sentence =
    `Every point is a row; its color is that of its ${deepest > 1 ? "cluster at level 1" : "cluster"}. An ellipse reaches two standard deviations from the mean ` +
    `of a cluster's rows${deepest > 1 ? ": thick lines are level 1, thinner lines the levels below" : ""}. ` +
    (step > 1 ? `Of ${plural(all.length, "row")} ${plural(shown.length, "row")} are drawn. ` : "") +
    "Clusters of fewer than three rows have no ellipse.";
  let drawing: SVGSVGElement;
  const inside = (row: number) => report.contains(state.node, row);
  const isChosen = (id: number) => report.path(id).includes(state.node);
  const draw = () => {
    drawing = chart({
      title: `${up.name} against ${across.name}`,
      description: sentence,
      width: 720,
      height: 520,
      marginLeft: 56,
      grid: true,
      x: { label: across.name, nice: true },
      y: { label: up.name, nice: true },
      marks: [
        Plot.dot(shown, {
          x: "x",
          y: "y",
          r: shown.length > 1000 ? 1.5 : 2.5,
          fill: (p: Point) => kindColor(colors[report.leafOfRow[p.row]]),
          fillOpacity: (p: Point) => (inside(p.row) ? 0.8 : 0.12),
        }),
        ...ellipses.map((ellipse) =>
          Plot.line(outline(ellipse), {
            x: "x",
            y: "y",
            stroke: kindColor(colors[ellipse.node]),
            strokeWidth: ellipse.level === 1 ? 2.5 : 1.2,
            strokeOpacity: isChosen(ellipse.node) ? 1 : 0.15,
            clip: true,
          }),
        ),
      ],
    });
    body.replaceChildren(drawing);
  };
  draw();
  state.on("node", draw);
  const made = figure({
    name: "plane",
    title: `${up.name} against ${across.name}`,
    body,
    drawings: () => [drawing],
    rows: function* () {
      yield [
        "cluster",
        "level",
        "rows",
        `mean ${across.name}`,
        `mean ${up.name}`,
        "axis 1 x",
        "axis 1 y",
        "axis 2 x",
        "axis 2 y",
      ];
      for (const { node, level, center, axes } of ellipses)
        yield [report.nodeName(node), level, report.nodes[node].size, ...center, ...axes[0], ...axes[1]];
    },
  });
  made.say(sentence);
  return h(
    "section",
    { id: "plane", "aria-labelledby": "plane-title" },
    h("h2", { id: "plane-title" }, "The plane"),
    made.element,
  );
}
