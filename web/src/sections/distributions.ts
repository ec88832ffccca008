// The chosen cluster column by column: how its values are distributed, against all other rows. Numbers are histograms,
// binary and category columns bars of shares.
import { h, lazily, svg, styled } from "../dom";
import { briefIn, percent, plural, type Column, type Report } from "../data";
import { figure } from "../figure";
import { shortened, textWidth } from "../fit";
import { clusterColor } from "../palette";
import type { State } from "../state";

const atOnce = 12;
const width = 250;
const plotHeight = 84;
const barHeight = 15;
const mostBins = 24;
const mostBars = 8;

interface Distribution {
  column: number;
  labels: string[]; // of bars, or the ends of bins
  isBars: boolean;
  inside: number[]; // shares
  outside: number[];
}

const missing = 255;

/** The bin or level of every cell, and how many cells each has, once for all clusters. */
class Bins {
  readonly scales: Scale[];
  private readonly codes: Uint8Array;
  private readonly totals: Uint32Array[];

  constructor(private readonly report: Report) {
    const { width, rows, cells, data } = report;
    this.scales = data.columns.map((column, j) =>
      column.kind === "binary" || column.kind === "category" ? levelsOf(column) : binsOf(report, j, column),
    );
    this.totals = this.scales.map(({ count }) => new Uint32Array(count));
    this.codes = new Uint8Array(rows * width).fill(missing);
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < width; j++) {
        const value = cells[i * width + j];
        if (Number.isNaN(value)) continue;
        const code = this.scales[j].place(value);
        this.codes[i * width + j] = code;
        this.totals[j][code]++;
      }
  }

  /** Shares of the cluster and of the others, column by column. */
  distributions(node: number): Distribution[] {
    const { width, nodes, data } = this.report;
    const { first, end } = nodes[node];
    const inside = this.scales.map(({ count }) => new Uint32Array(count));
    for (let i = first; i < end; i++)
      for (let j = 0; j < width; j++) {
        const code = this.codes[i * width + j];
        if (code !== missing) inside[j][code]++;
      }
    const shares = (counts: Uint32Array) => {
      const total = counts.reduce((a, b) => a + b, 0);
      return Array.from(counts, (count) => count / Math.max(1, total));
    };
    return this.scales.map((scale, column) => ({
      column,
      labels: scale.labels,
      isBars: data.columns[column].kind === "binary" || data.columns[column].kind === "category",
      inside: shares(inside[column]),
      outside: shares(this.totals[column].map((count, k) => count - inside[column][k])),
    }));
  }
}

interface Scale {
  count: number;
  labels: string[];
  place(value: number): number;
}

function levelsOf(column: Column): Scale {
  const labels = column.levels.length > 0 ? column.levels : ["no", "yes"];
  return {
    count: labels.length,
    labels,
    place: (value) => Math.min(labels.length - 1, Math.max(0, Math.round(value))),
  };
}

/** Bins of equal width over the middle 99 % of the column; what is beyond is in the outermost. Counts have whole numbers
 * as bins. */
function binsOf(report: Report, column: number, entry: Column): Scale {
  const step = Math.max(1, Math.floor(report.rows / 5000));
  const sample: number[] = [];
  for (let row = 0; row < report.rows; row += step) {
    const value = report.cells[row * report.width + column];
    if (!Number.isNaN(value)) sample.push(value);
  }
  sample.sort((a, b) => a - b);
  const at = (q: number) => sample[Math.min(sample.length - 1, Math.round(q * (sample.length - 1)))] ?? 0;
  let [low, high] = [at(0.005), at(0.995)];
  if (!(high > low)) [low, high] = [low - 0.5, low + 0.5];
  let count = Math.max(4, Math.min(mostBins, Math.ceil(2 * Math.cbrt(sample.length))));
  if (entry.kind === "count" && high - low < mostBins) {
    [low, high] = [low - 0.5, high + 0.5];
    count = Math.round(high - low);
  }
  const size = (high - low) / count;
  return {
    count,
    labels: Array.from({ length: count + 1 }, (_, i) => briefIn(entry, low + i * size)),
    place: (value) => Math.min(count - 1, Math.max(0, Math.floor((value - low) / size))),
  };
}

/** Half of the sum of the differences of shares: 0 alike, 1 nothing in common. */
function difference({ inside, outside }: Distribution): number {
  return inside.reduce((sum, share, i) => sum + Math.abs(share - outside[i]), 0) / 2;
}

/** Its name is part of the drawing, so that the saved one has it too. */
function titled(name: string, height: number, ...parts: (SVGElement | null)[]): SVGSVGElement {
  return svg(
    "svg",
    { class: "small-chart", viewBox: `0 -20 ${width} ${height + 20}`, role: "img" },
    svg("text", { x: 0, y: -8, class: "small-title" }, svg("title", {}, name), shortened(name, width * 0.93, 12)),
    ...parts,
  );
}

function histogram(entry: Distribution, name: string, color: string): SVGSVGElement {
  const most = Math.max(...entry.inside, ...entry.outside, 1e-9);
  const each = width / entry.inside.length;
  const y = (share: number) => plotHeight * (1 - share / most);
  const outline = entry.outside.map((share, i) => `${i * each},${y(share)} ${(i + 1) * each},${y(share)}`).join(" ");
  const axis = entry.labels;
  return titled(
    name,
    plotHeight + 16,
    ...entry.inside.map((share, i) =>
      svg("rect", {
        x: i * each + 0.5,
        y: y(share),
        width: Math.max(0.5, each - 1),
        height: plotHeight - y(share),
        fill: color,
      }),
    ),
    svg("polyline", { points: `0,${plotHeight} ${outline} ${width},${plotHeight}`, class: "others" }),
    svg("line", { x1: 0, x2: width, y1: plotHeight, y2: plotHeight, class: "base" }),
    svg("text", { x: 0, y: plotHeight + 13, class: "tick" }, axis[0]),
    svg("text", { x: width, y: plotHeight + 13, class: "tick", "text-anchor": "end" }, axis[axis.length - 1]),
  );
}

function bars(entry: Distribution, name: string, color: string): SVGSVGElement {
  const order = entry.inside.map((_, i) => i);
  if (order.length > mostBars)
    order.sort(
      (a, b) => Math.max(entry.inside[b], entry.outside[b]) - Math.max(entry.inside[a], entry.outside[a]) || a - b,
    );
  const shown = order.slice(0, mostBars);
  const longest = Math.max(...shown.map((i) => textWidth(entry.labels[i], 10.5)));
  const left = Math.min(96, longest) + 6;
  const scale = width - left - 40;
  const rest = order.slice(mostBars).reduce((sum, i) => sum + entry.inside[i], 0);
  const height = shown.length * barHeight + (order.length > mostBars ? 14 : 0) + 4;
  return titled(
    name,
    height,
    ...shown.flatMap((i, k) => {
      const top = k * barHeight + 2;
      return [
        svg(
          "text",
          { x: left - 5, y: top + 10, class: "tick", "text-anchor": "end" },
          shortened(entry.labels[i], 92, 10.5),
        ),
        svg("rect", { x: left, y: top, width: scale * entry.inside[i], height: barHeight - 4, fill: color }),
        svg("line", {
          x1: left + scale * entry.outside[i],
          x2: left + scale * entry.outside[i],
          y1: top - 1,
          y2: top + barHeight - 3,
          class: "others",
        }),
        svg("text", { x: width, y: top + 10, class: "tick", "text-anchor": "end" }, percent(entry.inside[i])),
      ];
    }),
    order.length > mostBars
      ? svg(
          "text",
          { x: left, y: height - 3, class: "tick" },
          `${order.length - mostBars} further levels: ${percent(rest)}`,
        )
      : null,
  );
}

export function distributionsSection(report: Report, state: State, colors: Int32Array): HTMLElement | null {
  if (report.nodes.length < 2 || report.width === 0) return null;
  const body = h("div", { class: "small-charts" });
  const more = h("button", { type: "button", class: "small" });
  const legend = h("div", { class: "legend" });
  const bins = new Bins(report);
  let shown = atOnce;
  let entries: Distribution[] = [];

  /** The cluster that is chosen, or the largest as long as none is. */
  const subject = () => (state.node !== 0 ? state.node : firstCluster(report));

  const panel = (entry: Distribution, color: string) => {
    const { name } = report.data.columns[entry.column];
    const chart = entry.isBars ? bars(entry, name, color) : histogram(entry, name, color);
    chart.setAttribute(
      "aria-label",
      `${name}: ${percent(difference(entry))} of the cluster differs from the other rows; ${
        entry.isBars
          ? entry.labels
              .slice(0, 20)
              .map((label, i) => `${label} ${percent(entry.inside[i])} against ${percent(entry.outside[i])}`)
              .join(", ")
          : `histogram from ${entry.labels[0]} to ${entry.labels[entry.labels.length - 1]}`
      }`,
    );
    return chart;
  };

  const draw = () => {
    const node = subject();
    const color = colors[node] < 0 ? "var(--sure)" : clusterColor(colors[node]);
    entries = bins.distributions(node);
    entries.sort((a, b) => difference(b) - difference(a));
    body.replaceChildren(...entries.slice(0, shown).map((entry) => panel(entry, color)));
    const left = entries.length - shown;
    more.hidden = left <= 0;
    more.textContent = `Show ${Math.min(left, 60)} more of ${plural(left, "column")}`;
    legend.replaceChildren(
      h(
        "span",
        { class: "key" },
        styled(h("i", {}), { background: color }),
        h("bdi", {}, `${report.nodeName(node)}, ${plural(report.nodes[node].size, "row")}`),
      ),
      h(
        "span",
        { class: "key" },
        h("i", { class: "line others" }),
        `all other rows, ${plural(report.nodes[0].size - report.nodes[node].size, "row")}`,
      ),
    );
    const [strongest] = entries;
    made.say(
      `The columns of “${report.nodeName(node)}” (filled: share of its rows) against all other rows (line), those that differ most first. ` +
        `They differ most in ${report.data.columns[strongest.column].name}: ${percent(difference(strongest))} of its rows would have to change to look like the others.` +
        (state.node === 0 ? " Choose a cluster in the tree to see another." : "") +
        (report.rows < report.data.rows.total ? ` Of ${plural(report.rows, "row")} that are shown.` : ""),
    );
  };
  more.addEventListener("click", () => {
    shown += 60;
    draw();
  });
  const made = figure({
    name: "distributions",
    title: "Distribution of each column",
    body: h("div", {}, legend, body, more),
    drawings: () => {
      drawing.flush();
      return [...body.querySelectorAll<SVGSVGElement>("svg")];
    },
    rows: function* () {
      drawing.flush();
      yield ["column", "from_or_level", "to", "share_in_cluster", "share_of_others"];
      for (const entry of entries)
        for (let i = 0; i < entry.inside.length; i++)
          yield [
            report.data.columns[entry.column].name,
            entry.labels[i],
            entry.isBars ? "" : entry.labels[i + 1],
            entry.inside[i],
            entry.outside[i],
          ];
    },
  });
  const drawing = lazily(made.element, draw);
  state.on("node", drawing.request);
  state.on("names", drawing.request);
  state.on("theme", drawing.request);
  draw();
  return h(
    "section",
    { id: "distributions", class: "wide", "aria-labelledby": "distributions-title" },
    h("h2", { id: "distributions-title" }, "Distributions"),
    made.element,
  );
}

function firstCluster(report: Report): number {
  const nodes = report.data.levels[0].node_of;
  return nodes.reduce((best, id) => (report.nodes[id].size > report.nodes[best].size ? id : best), nodes[0]);
}
