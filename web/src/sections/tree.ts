// The tree with the data beside it, or below it on narrow screens. Arrow keys walk through it as through any tree; a click
// on a node chooses it for the whole page, and the sign before it opens and closes it.
import { h, svg, styled } from "../dom";
import type { Report } from "../data";
import { figure } from "../figure";
import { HeatPanel } from "../heat_panel";
import { nameList } from "../name_list";
import type { State } from "../state";
import { branchWidth, drawTree, namesWidth, type TreeActions } from "../tree_drawing";
import { TreeView, type Item } from "../tree_layout";

const narrowest = 620; // below it the data are drawn below the tree
const drawnHeight = 520;
const leastNames = 190;
const mostNames = 380;

export function treeSection(report: Report, state: State, colors: Int32Array): HTMLElement {
  const view = new TreeView(report);
  const heat = new HeatPanel(report, state);
  const drawing = svg("svg", { role: "tree", "aria-label": "Tree of clusters", class: "tree" });
  const tip = h("div", { class: "tip", role: "status" });
  const trail = h("nav", { class: "trail", "aria-label": "Branch that is shown" });
  const left = h("div", { class: "left" }, drawing);
  const pair = h("div", { class: "pair" }, left, heat.element);

  let layout = view.layout(drawnHeight);
  let tree = layout; // as drawn
  let focused = 0; // the node that Tab reaches

  /** The tree alone; returns its width. */
  function drawNames(): number {
    const all = pair.clientWidth;
    const narrow = all < narrowest;
    const { step, width: branches } = branchWidth(layout, narrow);
    const names = narrow
      ? all - branches
      : Math.max(
          leastNames,
          Math.min(mostNames, namesWidth(report, layout), all - branches - Math.max(180, heat.wanted(layout))),
        );
    // Below each other, the tree needs no more room than its names do.
    tree = narrow ? view.layout(0) : layout;
    const width = branches + names;
    drawTree(drawing, report, tree, { width, step, chosen: state.node, focused, colors }, actions);
    return width;
  }

  function draw(): void {
    const all = pair.clientWidth;
    const narrow = all < narrowest;
    pair.classList.toggle("stacked", narrow);
    const width = drawNames();
    const heads = heat.draw(layout, narrow ? all : all - width, narrow);
    styled(left, { "padding-top": narrow ? "0" : `${heads}px` });
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
    layout = view.layout(drawnHeight);
    draw();
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
    const { items } = tree;
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

  const actions: TreeActions = { act, zoom, toggle, key, focus: (node) => (focused = node) };

  heat.veil.addEventListener("pointermove", (event) => {
    const at = heat.underPointer(event);
    tip.textContent =
      at === null
        ? ""
        : `${report.rowName(at.row)} · ${report.data.columns[at.column].name}: ${report.cellText(at.row, at.column) || "missing"}`;
  });
  heat.veil.addEventListener("pointerleave", () => (tip.textContent = ""));
  heat.veil.addEventListener("click", (event) => {
    const at = heat.underPointer(event as PointerEvent);
    if (at !== null) state.chooseRow(at.row);
  });

  const button = (label: string, act: () => void) =>
    h("button", { type: "button", class: "small", onclick: act }, label);
  const made = figure({
    name: "tree",
    title: report.data.tree.hierarchy ? "The tree and the data" : "The clusters and the data",
    body: h(
      "div",
      {},
      trail,
      pair,
      tip,
      h(
        "div",
        { class: "legend" },
        h(
          "span",
          { class: "keys" },
          h("span", { class: "key-title" }, "branch:"),
          h("span", { class: "key" }, h("i", { class: "line unsure" }), "uncertain"),
          h("span", { class: "key" }, h("i", { class: "line sure" }), "certain"),
        ),
        ...heat.legend(),
      ),
      nameList(
        "Columns from left to right",
        report.data.columns.map((column) => column.name),
      ),
    ),
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
    drawings: () => [drawing, ...heat.drawings],
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

  const total = report.data.rows.total;
  made.say(
    `${report.data.tree.sentence.replace(/\s+/g, " ").trim()} ` +
      (report.data.tree.hierarchy
        ? "Each branch is a cluster, with its number (level and cluster) and its name, which says what distinguishes it from all other rows; thick branches are in most draws, thin ones are not. "
        : report.data.head.greedy
          ? "Clusters are joined in the order in which the tree joined them; thick branches are certain given the tree, thin ones are not. Names say what distinguishes a cluster from all other rows. "
          : "Clusters are joined by how often their rows are together in the draws; thick branches are certain, thin ones are not. Names say what distinguishes a cluster from all other rows. ") +
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
    focused = state.node;
    if (layout.items.some((item) => item.gathered === 0 && item.node === state.node)) {
      drawNames();
      heat.drawVeil();
      return;
    }
    view.reveal(state.node);
    redraw();
  });
  state.on("row", () => heat.drawVeil());
  state.on("theme", redraw);
  state.on("names", redraw);
  let width = 0;
  new ResizeObserver(() => {
    if (pair.clientWidth === width || pair.clientWidth === 0) return;
    width = pair.clientWidth;
    redraw();
  }).observe(pair);
  return made.element;
}
