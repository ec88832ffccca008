// The data beside the tree: cells on a canvas, strips of known labels, names of columns above and of rows to the right.
// Names that have no room are thinned out; a list below has all of them.
import { h, svg, styled } from "./dom";
import { plural, type Report } from "./data";
import { shortened, textWidth, thinning } from "./fit";
import { drawStrip, Shades, type Band } from "./heatmap";
import { amountColor, labelColor, levelColor, rgb, themeColor } from "./palette";
import type { State } from "./state";
import type { Layout } from "./tree_layout";

const rowNameHeight = 10; // rows at least this high are named
const stripWidth = 14;
const gap = 3;
const widest = 64; // a column
const headSize = 11;
const mostHead = 150; // pixels along a head
const mostLevels = 12; // of a category in the legend

export class HeatPanel {
  readonly element: HTMLElement;
  readonly veil = h("canvas", { class: "veil", "aria-hidden": "true" });
  private readonly cells = h("canvas", { class: "cells", role: "img" });
  private readonly heads = svg("svg", { class: "heads", "aria-hidden": "true" });
  private readonly gutter = svg("svg", { class: "gutter", "aria-hidden": "true" });
  private readonly names = svg("svg", { class: "row-names", "aria-hidden": "true" });
  private readonly strips: HTMLCanvasElement[];
  private readonly shades: Shades;
  private layout!: Layout;

  constructor(
    private readonly report: Report,
    private readonly state: State,
  ) {
    this.shades = new Shades(report);
    this.strips = report.data.known.map((known) =>
      h("canvas", { class: "strip", role: "img", "aria-label": `Known labels: ${known.name}` }),
    );
    const heat = h("div", { class: "heat" }, this.cells, this.veil);
    this.element = h(
      "div",
      { class: "right scroller", role: "region", tabindex: 0, "aria-label": "The data, rows in the order of the tree" },
      this.heads,
      h("div", { class: "right-row" }, this.gutter, ...this.strips, heat, this.names),
    );
  }

  get drawings(): (SVGSVGElement | HTMLCanvasElement)[] {
    const texts = [this.heads, this.gutter, this.names].filter((part) => part.childElementCount > 0);
    return [...texts, ...this.strips, this.cells];
  }

  private get stripsWidth(): number {
    return this.strips.length * (stripWidth + gap);
  }
  private get bands(): Band[] {
    return this.layout.leaves.map(({ first, end, top, height }) => ({ first, end, top, height }));
  }
  private get roomForRowNames(): number {
    const named = this.layout.leaves.some((leaf) => leaf.height >= rowNameHeight * (leaf.end - leaf.first));
    return named ? 114 : 0;
  }

  /** How wide it would like to be. */
  wanted(layout: Layout): number {
    this.layout = layout;
    return this.report.width * 34 + this.stripsWidth + this.roomForRowNames + 8;
  }

  /** Draws into this width; with numbers of the clusters on the left if the tree is not beside it. Returns the height of
   * the heads. */
  draw(layout: Layout, width: number, numbered: boolean): number {
    this.layout = layout;
    const count = this.report.width;
    const gutterWidth = numbered ? this.drawGutter() : 0;
    if (!numbered) this.gutter.replaceChildren();
    this.gutter.setAttribute("width", String(gutterWidth));
    this.gutter.setAttribute("height", String(layout.height));
    const besides = this.stripsWidth + (gutterWidth > 0 ? gutterWidth + gap : 0) + gap;
    const roomForNames = width - besides - this.roomForRowNames >= Math.min(160, 9 * count) ? this.roomForRowNames : 0;
    const columnWidth = Math.max(2, Math.min(widest, (width - besides - roomForNames) / count));
    const wide = columnWidth * count;
    this.size(this.cells, wide);
    this.size(this.veil, wide);
    this.shades.draw(this.cells, this.bands, rgb(themeColor("--blank")));
    this.cells.setAttribute(
      "aria-label",
      `Heatmap of ${plural(this.report.rows, "row")} and ${plural(count, "column")}; the CSV below has the numbers.`,
    );
    this.strips.forEach((strip, k) => {
      this.size(strip, stripWidth);
      drawStrip(strip, this.report.knownCodes[k], this.bands);
    });
    const headHeight = this.drawHeads(besides - this.stripsWidth - gap, columnWidth, Math.max(width, besides + wide));
    this.drawRowNames(roomForNames);
    this.drawVeil();
    return headHeight;
  }

  private size(canvas: HTMLCanvasElement, width: number): void {
    const sharp = window.devicePixelRatio || 1;
    const most = 8192;
    const { height } = this.layout;
    canvas.width = Math.max(1, Math.min(most, Math.round(width * sharp)));
    canvas.height = Math.max(1, Math.min(most, Math.round(height * sharp)));
    canvas.dataset.height = String(height);
    styled(canvas, { width: `${width}px`, height: `${height}px` });
  }

  /** Names of strips and columns: level if they are as short as that, slanted where there is room, upright where columns
   * are narrower; thinned out below that. */
  private drawHeads(left: number, columnWidth: number, width: number): number {
    const { columns, known } = this.report.data;
    const start = left + this.stripsWidth;
    const step = thinning(columnWidth, headSize + 1);
    // The first name keeps its distance from that of the last strip.
    const offset = known.length > 0 ? Math.min(step - 1, Math.ceil(3 / columnWidth)) : 0;
    const entries = [
      ...known.map((entry, k) => ({ text: entry.name, at: left + k * (stripWidth + gap) + stripWidth / 2 })),
      ...columns.flatMap((column, j) =>
        j % step === offset ? [{ text: column.name, at: start + (j + 0.5) * columnWidth }] : [],
      ),
    ];
    const texts = entries.map(({ text, at }) => ({ text: shortened(text, mostHead, headSize), full: text, at }));
    const longest = Math.max(0, ...texts.map(({ text }) => textWidth(text, headSize)));
    const radians = (55 * Math.PI) / 180;
    const level = texts.every(
      ({ text }) => textWidth(text, headSize) <= (known.length > 0 ? stripWidth : columnWidth * step) - 2,
    );
    // A slanted name must not leave the drawing on the right.
    const slanted =
      columnWidth * step >= 15 &&
      texts.every(({ text, at }) => at + 8 + textWidth(text, headSize) * Math.cos(radians) <= width);
    const angle = level ? 0 : slanted ? -55 : -90;
    const rise = level ? headSize : longest * (slanted ? Math.sin(radians) : 1);
    const height = entries.length === 0 ? 0 : Math.ceil(rise + 10);
    this.heads.setAttribute("width", String(Math.ceil(width)));
    this.heads.setAttribute("height", String(height));
    this.heads.replaceChildren(
      ...texts.map(({ text, full, at }) =>
        svg(
          "text",
          {
            transform: `translate(${level ? at : Math.min(Math.max(at + 4, headSize), width - 5)},${height - 4}) rotate(${angle})`,
            class: "head",
            "text-anchor": level ? "middle" : "start",
          },
          svg("title", {}, full),
          text,
        ),
      ),
    );
    return height;
  }

  /** Numbers of the clusters beside their bands; returns the width. */
  private drawGutter(): number {
    const labels = this.layout.leaves.map((leaf) =>
      leaf.gathered > 0 ? `+${leaf.gathered}` : this.report.nodes[leaf.node].number,
    );
    this.gutter.replaceChildren(
      ...this.layout.leaves.map((leaf, i) =>
        svg("text", { x: 0, y: leaf.top + Math.min(leaf.height / 2, 60) + 4, class: "band-number" }, labels[i]),
      ),
    );
    return Math.ceil(Math.max(0, ...labels.map((text) => textWidth(text, 12)))) + 2;
  }

  private drawRowNames(room: number): void {
    const texts: SVGElement[] = [];
    for (const leaf of room > 0 ? this.layout.leaves : []) {
      const each = leaf.height / Math.max(1, leaf.end - leaf.first);
      if (each < rowNameHeight) continue;
      for (let row = leaf.first; row < leaf.end; row++)
        texts.push(
          svg(
            "text",
            { x: 4, y: leaf.top + (row - leaf.first + 0.5) * each, class: "row-name" },
            shortened(this.report.rowName(row), 108, 10.5),
          ),
        );
    }
    this.names.setAttribute("height", String(this.layout.height));
    this.names.setAttribute("width", texts.length > 0 ? "112" : "0");
    this.names.replaceChildren(...texts);
  }

  /** What is not chosen steps back. */
  drawVeil(): void {
    const context = this.veil.getContext("2d");
    if (context === null) return;
    const { veil, state, report, layout } = this;
    const sharp = veil.height / Math.max(1, layout.height);
    context.clearRect(0, 0, veil.width, veil.height);
    const chosen = report.nodes[state.node];
    const shade = (from: number, to: number) => {
      context.fillStyle = themeColor("--veil");
      context.fillRect(0, from * sharp, veil.width, (to - from) * sharp);
    };
    for (const leaf of layout.leaves) {
      const each = leaf.height / Math.max(1, leaf.end - leaf.first);
      const from = Math.max(leaf.first, chosen.first);
      const to = Math.min(leaf.end, chosen.end);
      if (from >= to) shade(leaf.top, leaf.top + leaf.height);
      else {
        if (from > leaf.first) shade(leaf.top, leaf.top + (from - leaf.first) * each);
        if (to < leaf.end) shade(leaf.top + (to - leaf.first) * each, leaf.top + leaf.height);
      }
      if (state.row !== null && state.row >= leaf.first && state.row < leaf.end) {
        context.strokeStyle = themeColor("--mark");
        context.lineWidth = 2 * sharp;
        const y = (leaf.top + (state.row - leaf.first) * each) * sharp;
        context.strokeRect(sharp, y, veil.width - 2 * sharp, Math.max(2 * sharp, each * sharp));
      }
    }
  }

  underPointer(event: PointerEvent): { row: number; column: number } | null {
    const box = this.cells.getBoundingClientRect();
    const y = event.clientY - box.top;
    const column = Math.floor(((event.clientX - box.left) / box.width) * this.report.width);
    const leaf = this.layout.leaves.find((entry) => y >= entry.top && y < entry.top + entry.height);
    if (!leaf || column < 0 || column >= this.report.width) return null;
    return { row: leaf.first + Math.floor(((y - leaf.top) / leaf.height) * (leaf.end - leaf.first)), column };
  }

  /** What the colors of cells and strips mean. */
  legend(): (HTMLElement | null)[] {
    const { columns, known } = this.report.data;
    const swatch = (color: string, label: string) =>
      h("span", { class: "key" }, styled(h("i", {}), { background: color }), h("bdi", {}, label));
    const scale = (name: string, levels: string[], color: (i: number) => string, most: number) =>
      h(
        "span",
        { class: "keys" },
        h("span", { class: "key-title" }, h("bdi", {}, name), ":"),
        ...levels.slice(0, most).map((level, i) => swatch(color(i), level)),
        levels.length > most ? h("span", {}, `and ${levels.length - most} more`) : null,
      );
    const categories = columns.filter((column) => column.kind === "category");
    return [
      columns.length > categories.length
        ? h(
            "span",
            { class: "keys" },
            h("span", { class: "key-title" }, "cell:"),
            swatch(amountColor(0), "low or no"),
            swatch(amountColor(1), "high or yes"),
          )
        : null,
      h("span", { class: "key" }, h("i", { class: "blank" }), "missing"),
      ...categories.slice(0, 6).map((column) => scale(column.name, column.levels, levelColor, mostLevels)),
      categories.length > 6 ? h("span", {}, `and ${categories.length - 6} more categories, in the same order`) : null,
      ...known.map((entry) => scale(entry.name, entry.levels, labelColor, 16)),
    ];
  }
}
