// The tree with the data beside it. Arrow keys walk through it as through any tree; a click on a node chooses it for
// the whole page, and the sign before it opens and closes it.
import { h, svg, styled } from "../dom";
import { percent, plural, type Report } from "../data";
import { figure } from "../figure";
import { drawStrip, Shades, type Band } from "../heatmap";
import { amountColor, kindColor, labelColor, rgb, sureColor, themeColor } from "../palette";
import type { State } from "../state";
import { TreeView, type Item } from "../tree_layout";

const rowNameHeight = 10; // rows at least this high are named
const stripWidth = 14;

function shortened(text: string, width: number, size = 6.3): string {
  const most = Math.max(3, Math.floor(width / size));
  return text.length <= most ? text : `${[...text].slice(0, most - 1).join("")}…`;
}

/** The text in at most this many lines, broken between words; the last one is shortened. */
function wrapped(text: string, width: number, most: number): string[] {
  const letters = Math.max(3, Math.floor(width / 6.3));
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last === "" || last.length + 1 + word.length <= letters || lines.length === most)
      lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => shortened(line, width));
}

export function treeSection(report: Report, state: State, colors: Int32Array): HTMLElement {
  const view = new TreeView(report);
  const shades = new Shades(report);
  const drawing = svg("svg", { role: "tree", "aria-label": "Tree of clusters", class: "tree" });
  const heads = svg("svg", { class: "heads", "aria-hidden": "true" });
  const cells = h("canvas", { class: "cells", role: "img" });
  const veil = h("canvas", { class: "veil", "aria-hidden": "true" });
  const strips = report.data.known.map((known) =>
    h("canvas", { class: "strip", role: "img", "aria-label": `Known labels: ${known.name}` }),
  );
  const names = svg("svg", { class: "row-names", "aria-hidden": "true" });
  const tip = h("div", { class: "tip", role: "status" });
  const trail = h("nav", { class: "trail", "aria-label": "Branch that is shown" });
  const heat = h("div", { class: "heat" }, cells, veil);
  const left = h("div", { class: "left" }, drawing);
  const right = h(
    "div",
    { class: "right scroller", role: "region", tabindex: 0, "aria-label": "The data, rows in the order of the tree" },
    heads,
    h("div", { class: "right-row" }, ...strips, heat, names),
  );
  const pair = h("div", { class: "pair" }, left, right);

  let layout = view.layout(520);
  let focused = 0; // the node that Tab reaches

  const bands = (): Band[] => layout.leaves.map(({ first, end, top, height }) => ({ first, end, top, height }));

  function size(canvas: HTMLCanvasElement, width: number, height: number): void {
    const sharp = window.devicePixelRatio || 1;
    const most = 8192;
    canvas.width = Math.max(1, Math.min(most, Math.round(width * sharp)));
    canvas.height = Math.max(1, Math.min(most, Math.round(height * sharp)));
    canvas.dataset.height = String(height);
    styled(canvas, { width: `${width}px`, height: `${height}px` });
  }

  function itemLabel(item: Item): string {
    if (item.gathered > 0)
      return `${item.gathered} smaller clusters, ${plural(item.size, "row")}; press Enter to show them`;
    const node = report.nodes[item.node];
    const sure = node.parent === null ? "" : `, ${percent(node.sure)} certain`;
    return `${report.nodeName(item.node)}, ${plural(item.size, "row")}${sure}`;
  }

  function drawTree(): void {
    const narrow = pair.clientWidth < 620;
    const labelWidth = narrow ? 112 : 190;
    const step = layout.depth === 0 ? 0 : Math.min(95, Math.max(26, (narrow ? 60 : 210) / layout.depth));
    const width = 22 + step * layout.depth + labelWidth;
    const x = (item: Item) => 14 + step * item.depth;
    const biggest = Math.sqrt(layout.root.size);
    const radius = (item: Item) => 3.5 + 6.5 * (Math.sqrt(item.size) / biggest);
    drawing.setAttribute("viewBox", `0 0 ${width} ${layout.height}`);
    drawing.setAttribute("width", String(width));
    drawing.setAttribute("height", String(layout.height));
    const lines: SVGElement[] = [];
    const groups: SVGElement[] = [];
    const captions: SVGElement[] = [];
    for (const item of layout.items) {
      const node = report.nodes[item.node];
      if (item.parent !== null) {
        const sure = item.gathered > 0 ? 0.5 : node.sure;
        lines.push(
          svg("path", {
            d: `M${x(item.parent)},${item.parent.y}V${item.y}H${x(item)}`,
            fill: "none",
            stroke: sureColor(sure),
            "stroke-width": 1 + 2.5 * sure,
          }),
        );
      }
      const leaf = item.children.length === 0;
      const canOpen = item.gathered === 0 && node.children.length > 0;
      const r = radius(item);
      const name = item.gathered > 0 ? `${item.gathered} smaller clusters` : report.nodeName(item.node);
      const chosen = item.gathered === 0 && item.node === state.node;
      const color = colors[item.node] < 0 || item.gathered > 0 ? themeColor("--quiet") : kindColor(colors[item.node]);
      const group = svg("g", {
        role: "treeitem",
        class: chosen ? "item chosen" : "item",
        "aria-level": item.depth + 1,
        "aria-expanded": canOpen ? String(item.open) : null,
        "aria-selected": String(chosen),
        "aria-label": itemLabel(item),
        tabindex: item.node === focused && item.gathered === 0 ? 0 : -1,
        transform: `translate(${x(item)},${item.y})`,
        "data-node": item.gathered > 0 ? null : item.node,
        onclick: () => act(item),
        ondblclick: () => zoom(item.node),
        onkeydown: (event: KeyboardEvent) => key(event, item),
        onfocus: () => (focused = item.node),
      });
      const start = canOpen ? r + 24 : r + 6;
      const words = leaf
        ? wrapped(name, width - x(item) - start - 2, Math.max(1, Math.min(3, Math.floor((item.height - 12) / 14))))
        : [];
      const top = -1 - (words.length - 1) * 7;
      const text = leaf
        ? svg("text", { class: "name" }, ...words.map((line, k) => svg("tspan", { x: start, y: top + 14 * k }, line)))
        : svg(
            "text",
            { x: -r - 3, y: -r - 3, class: "name inner", "text-anchor": "end" },
            item.depth === 0 || step < 50 ? "" : shortened(name, step - 6, 5.6),
          );
      group.append(
        svg("title", {}, itemLabel(item)),
        svg("rect", {
          class: "target",
          x: leaf ? -r - 4 : Math.min(-r - 4, 8 - step),
          y: leaf ? -Math.min(item.height / 2, 26) : -r - 16,
          width: leaf ? width - x(item) + r : r + 2 + Math.max(r + 4, step - 8),
          height: leaf ? Math.min(item.height, 52) : 2 * r + 22,
          fill: "transparent",
        }),
        svg("circle", { r, fill: color, stroke: color, "stroke-width": 2 }),
      );
      // Readers of the screen hear the whole label of the item, not the shortened words beside it.
      const caption = svg("g", {
        class: chosen ? "words chosen" : "words",
        "aria-hidden": "true",
        transform: `translate(${x(item)},${item.y})`,
      });
      caption.append(text);
      if (leaf)
        caption.append(
          svg(
            "text",
            { x: start, y: top + 14 * (words.length - 1) + 12, class: "count" },
            plural(item.size, "row") +
              (item.gathered === 0 && node.parent !== null ? ` · ${percent(node.sure)} certain` : ""),
          ),
        );
      if (canOpen) {
        const sign = svg(
          "g",
          {
            class: "sign",
            transform: `translate(${r + 12},0)`,
            onclick: (event: Event) => {
              event.stopPropagation();
              toggle(item.node);
            },
            ondblclick: (event: Event) => event.stopPropagation(),
          },
          svg("rect", { x: -12, y: -12, width: 24, height: 24, fill: "transparent" }),
          svg("rect", { x: -6, y: -6, width: 12, height: 12, rx: 2, class: "box" }),
          svg("path", { d: item.open ? "M-3,0H3" : "M-3,0H3M0,-3V3", class: "plus" }),
        );
        group.append(sign);
      }
      groups.push(group);
      captions.push(caption);
    }
    const root = svg("g", { class: "links", role: "none" }, ...lines);
    drawing.replaceChildren(root, ...captions, ...groups);
  }

  function drawHeat(): void {
    const count = report.width;
    const nameRoom = layout.leaves.some((leaf) => leaf.height >= rowNameHeight * (leaf.end - leaf.first)) ? 114 : 0;
    const room = Math.max(180, pair.clientWidth - left.clientWidth - strips.length * (stripWidth + 3) - nameRoom - 4);
    const columnWidth = Math.max(2, Math.min(34, room / count));
    const width = columnWidth * count;
    size(cells, width, layout.height);
    size(veil, width, layout.height);
    shades.draw(cells, bands(), rgb(themeColor("--blank")));
    cells.setAttribute(
      "aria-label",
      `Heatmap of ${plural(report.rows, "row")} and ${plural(count, "column")}; the CSV below has the numbers.`,
    );
    strips.forEach((strip, k) => {
      size(strip, stripWidth, layout.height);
      drawStrip(strip, report.knownCodes[k], bands());
    });
    const named = columnWidth >= 9;
    const headed = [
      ...report.data.known.map((known) => known.name),
      ...(named ? report.data.columns.map((column) => column.name) : []),
    ];
    const letters = Math.min(20, Math.max(0, ...headed.map((text) => [...text].length)));
    const headHeight = letters === 0 ? 0 : Math.ceil(12 + letters * 4.8);
    const offset = strips.length * (stripWidth + 3);
    heads.setAttribute("width", String(offset + width + 80));
    heads.setAttribute("height", String(headHeight));
    const head = (text: string, at: number) =>
      svg(
        "text",
        { transform: `translate(${at},${headHeight - 4}) rotate(-50)`, class: "head" },
        shortened(text, 125, 6),
      );
    heads.replaceChildren(
      ...report.data.known.map((known, k) => head(known.name, k * (stripWidth + 3) + stripWidth / 2 + 4)),
      ...(named ? report.data.columns.map((column, j) => head(column.name, offset + (j + 0.5) * columnWidth + 4)) : []),
    );
    styled(left, { "padding-top": `${headHeight}px` });
    drawRowNames();
    drawVeil();
  }

  function drawRowNames(): void {
    const texts: SVGElement[] = [];
    for (const leaf of layout.leaves) {
      const each = leaf.height / Math.max(1, leaf.end - leaf.first);
      if (each < rowNameHeight) continue;
      for (let row = leaf.first; row < leaf.end; row++)
        texts.push(
          svg(
            "text",
            { x: 4, y: leaf.top + (row - leaf.first + 0.5) * each, class: "row-name" },
            shortened(report.rowName(row), 110, 5.8),
          ),
        );
    }
    names.setAttribute("height", String(layout.height));
    names.setAttribute("width", texts.length > 0 ? "112" : "0");
    names.replaceChildren(...texts);
  }

  /** What is not chosen steps back. */
  function drawVeil(): void {
    const context = veil.getContext("2d");
    if (context === null) return;
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

  function drawTrail(): void {
    trail.replaceChildren();
    if (view.root === 0) return;
    report.path(view.root).forEach((node, i, path) => {
      if (i > 0) trail.append(" › ");
      trail.append(
        i === path.length - 1
          ? h("strong", {}, report.nodeName(node))
          : h("button", { type: "button", class: "link", onclick: () => zoom(node) }, report.nodeName(node)),
      );
    });
  }

  function redraw(): void {
    layout = view.layout(520);
    drawTree();
    drawHeat();
    drawTrail();
  }
  function toggle(node: number): void {
    view.toggle(node);
    redraw();
    focusOn(node);
  }
  function zoom(node: number): void {
    view.root = node;
    if (!view.isOpen(node)) view.toggle(node);
    focused = node;
    redraw();
  }
  function act(item: Item): void {
    if (item.gathered > 0) {
      view.showAllChildren(item.node);
      redraw();
      return;
    }
    focused = item.node;
    state.chooseNode(item.node);
    focusOn(item.node);
  }
  function focusOn(node: number): void {
    const element = drawing.querySelector<SVGGElement>(`[data-node="${node}"]`);
    element?.focus({ preventScroll: true });
  }
  function key(event: KeyboardEvent, item: Item): void {
    const items = layout.items;
    const at = items.indexOf(item);
    const go = (to: Item | null | undefined) => {
      if (!to) return;
      focused = to.node;
      const elements = drawing.querySelectorAll<SVGGElement>("[role=treeitem]");
      elements[items.indexOf(to)]?.focus();
    };
    const opens = item.gathered === 0 && report.nodes[item.node].children.length > 0;
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(items[at + 1]),
      ArrowUp: () => go(items[at - 1]),
      ArrowRight: () => (opens && !item.open ? toggle(item.node) : go(item.children[0])),
      ArrowLeft: () => (item.open && opens ? toggle(item.node) : go(item.parent)),
      Home: () => go(items[0]),
      End: () => go(items[items.length - 1]),
      Enter: () => act(item),
      " ": () => act(item),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  function underPointer(event: PointerEvent): { row: number; column: number } | null {
    const box = cells.getBoundingClientRect();
    const y = event.clientY - box.top;
    const column = Math.floor(((event.clientX - box.left) / box.width) * report.width);
    const leaf = layout.leaves.find((entry) => y >= entry.top && y < entry.top + entry.height);
    if (!leaf || column < 0 || column >= report.width) return null;
    return { row: leaf.first + Math.floor(((y - leaf.top) / leaf.height) * (leaf.end - leaf.first)), column };
  }
  veil.addEventListener("pointermove", (event) => {
    const at = underPointer(event);
    tip.textContent =
      at === null
        ? ""
        : `${report.rowName(at.row)} · ${report.data.columns[at.column].name}: ${report.cellText(at.row, at.column) || "missing"}`;
  });
  veil.addEventListener("pointerleave", () => (tip.textContent = ""));
  veil.addEventListener("click", (event) => {
    const at = underPointer(event as PointerEvent);
    if (at !== null) state.chooseRow(at.row);
  });

  const button = (label: string, act: () => void) =>
    h("button", { type: "button", class: "small", onclick: act }, label);
  const made = figure({
    name: "tree",
    title: report.data.tree.hierarchy ? "The tree and the data" : "The clusters and the data",
    body: h("div", {}, trail, pair, tip, legend()),
    controls: h(
      "span",
      { class: "controls" },
      button("Open all", () => {
        view.openAll();
        redraw();
      }),
      button("Close all", () => {
        view.closeAll();
        redraw();
      }),
      button("Only the chosen branch", () => zoom(state.node)),
      button("Everything", () => zoom(0)),
    ),
    drawings: () => [drawing, heads, ...strips, cells, ...(names.childElementCount > 0 ? [names] : [])],
    rows: function* () {
      yield [
        "row",
        ...report.data.known.map((known) => known.name),
        "cluster",
        ...report.data.columns.map((column) => column.name),
      ];
      for (let row = 0; row < report.rows; row++)
        yield [
          report.rowName(row),
          ...report.data.known.map((known, k) => known.levels[report.knownCodes[k][row]] ?? report.knownCodes[k][row]),
          report
            .path(report.leafOfRow[row])
            .slice(1)
            .map((node) => report.nodeName(node))
            .join(" > "),
          ...report.data.columns.map((_, j) => report.cellText(row, j)),
        ];
    },
  });

  function legend(): HTMLElement {
    const swatch = (color: string, label: string) =>
      h("span", { class: "key" }, styled(h("i", {}), { background: color }), label);
    const known = report.data.known.flatMap((entry) => [
      h("span", { class: "key-title" }, `${entry.name}:`),
      ...entry.levels.slice(0, 16).map((level, i) => swatch(labelColor(i), level)),
      entry.levels.length > 16 ? h("span", {}, `and ${entry.levels.length - 16} more`) : null,
    ]);
    const numbers = report.data.columns.some((column) => column.kind !== "category");
    return h(
      "div",
      { class: "legend" },
      h("span", { class: "key-title" }, "branch:"),
      h("span", { class: "key" }, h("i", { class: "line unsure" }), "uncertain"),
      h("span", { class: "key" }, h("i", { class: "line sure" }), "certain"),
      numbers ? h("span", { class: "key-title" }, "cell:") : null,
      numbers ? swatch(amountColor(0), "low or no") : null,
      numbers ? swatch(amountColor(1), "high or yes") : null,
      h("span", { class: "key" }, h("i", { class: "blank" }), "missing"),
      ...known,
    );
  }

  const total = report.data.rows.total;
  made.say(
    `${report.data.tree.sentence.replace(/\s+/g, " ").trim()} ` +
      (report.data.tree.hierarchy
        ? "Each branch is a cluster, named by what distinguishes it from its siblings; thick blue branches are in most draws, thin orange ones are not. "
        : report.data.head.greedy
          ? "Clusters are joined in the order in which the tree joined them; thick blue branches are certain given the tree, thin orange ones are not. "
          : "Clusters are joined by how often their rows are together in the draws; thick blue branches are certain, thin orange ones are not. ") +
      "Rows of the table are drawn beside their cluster; the columns that distinguish clusters best come first. " +
      (report.rows < total
        ? `${report.rows.toLocaleString("en")} of ${total.toLocaleString("en")} rows are drawn, evenly spaced. `
        : "") +
      (report.width < report.data.head.columns
        ? `The ${report.width} most distinguishing of ${report.data.head.columns} columns are drawn. `
        : "") +
      "Choose a node to see what makes it different.",
  );

  state.on("node", () => {
    if (!layout.items.some((item) => item.gathered === 0 && item.node === state.node)) view.reveal(state.node);
    focused = state.node;
    if (layout.items.some((item) => item.gathered === 0 && item.node === state.node)) {
      drawTree();
      drawVeil();
    } else redraw();
  });
  state.on("row", drawVeil);
  state.on("theme", redraw);
  let width = 0;
  new ResizeObserver(() => {
    if (pair.clientWidth === width || pair.clientWidth === 0) return;
    width = pair.clientWidth;
    redraw();
  }).observe(pair);
  return made.element;
}
