// The tree as a drawing: branches, nodes with their signs, numbers and names.
import { svg } from "./dom";
import { percent, plural, type Report } from "./data";
import { shortened, textWidth, wrapped } from "./fit";
import { clusterColor, sureColor, themeColor } from "./palette";
import type { Item, Layout } from "./tree_layout";

export interface TreeActions {
  act(item: Item): void;
  zoom(node: number): void;
  toggle(node: number): void;
  key(event: KeyboardEvent, item: Item): void;
  focus(node: number): void;
}

const textSize = 12;
const lineHeight = 14;
const bold = 1.15; // the name of the chosen one is wider

export function itemLabel(report: Report, item: Item): string {
  if (item.gathered > 0)
    return `${item.gathered} smaller clusters, ${plural(item.size, "row")}; press Enter to show them`;
  const node = report.nodes[item.node];
  const sure = node.parent === null ? "" : `, ${percent(node.sure)} certain`;
  return `${report.nodeName(item.node)}, ${plural(item.size, "row")}${sure}`;
}

/** How wide the branches are; names come after them. */
export function branchWidth(layout: Layout, narrow: boolean): { step: number; width: number } {
  const step = layout.depth === 0 ? 0 : Math.min(95, Math.max(narrow ? 16 : 26, (narrow ? 70 : 230) / layout.depth));
  return { step, width: 22 + step * layout.depth };
}

/** How much room the names of the leaves would take in one line. */
export function namesWidth(report: Report, layout: Layout): number {
  return Math.max(...layout.leaves.map((leaf) => textWidth(report.nodeName(leaf.node), textSize) * bold)) + 50;
}

export function drawTree(
  drawing: SVGSVGElement,
  report: Report,
  layout: Layout,
  options: { width: number; step: number; chosen: number; focused: number; colors: Int32Array },
  actions: TreeActions,
): void {
  const { width, step, chosen, focused, colors } = options;
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
    const isChosen = item.gathered === 0 && item.node === chosen;
    const color = colors[item.node] < 0 || item.gathered > 0 ? themeColor("--quiet") : clusterColor(colors[item.node]);
    const group = svg("g", {
      role: "treeitem",
      class: isChosen ? "item chosen" : "item",
      "aria-level": item.depth + 1,
      "aria-expanded": canOpen ? String(item.open) : null,
      "aria-selected": String(isChosen),
      "aria-label": itemLabel(report, item),
      tabindex: item.node === focused && item.gathered === 0 ? 0 : -1,
      transform: `translate(${x(item)},${item.y})`,
      "data-node": item.gathered > 0 ? null : item.node,
      onclick: () => actions.act(item),
      ondblclick: () => actions.zoom(item.node),
      onkeydown: (event: KeyboardEvent) => actions.key(event, item),
      onfocus: () => actions.focus(item.node),
    });
    group.append(
      svg("title", {}, itemLabel(report, item)),
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
      class: isChosen ? "words chosen" : "words",
      "aria-hidden": "true",
      transform: `translate(${x(item)},${item.y})`,
    });
    caption.append(
      ...(leaf ? leafWords(report, item, width - x(item), r, canOpen) : innerWords(report, item, step, r)),
    );
    if (canOpen) group.append(sign(item, r, actions));
    groups.push(group);
    captions.push(caption);
  }
  drawing.replaceChildren(svg("g", { class: "links", role: "none" }, ...lines), ...captions, ...groups);
}

/** Number and name in as many lines as the band has room for, and the count below. */
function leafWords(report: Report, item: Item, room: number, r: number, canOpen: boolean): SVGElement[] {
  const node = report.nodes[item.node];
  const start = canOpen ? r + 24 : r + 6;
  const number = item.gathered > 0 ? "" : node.number;
  const name = item.gathered > 0 ? `${item.gathered} smaller clusters` : report.plainName(item.node);
  const indent = number === "" ? 0 : textWidth(number, textSize) * 1.1 + 6;
  const most = Math.max(1, Math.min(3, Math.floor((item.height - 12) / lineHeight)));
  const words = wrapped(name, (room - start - indent - 4) / bold, most, textSize);
  const top = 3 - (words.length * lineHeight) / 2;
  return [
    ...(number === "" ? [] : [svg("text", { x: start, y: top, class: "name number" }, number)]),
    svg(
      "text",
      { class: "name" },
      ...words.map((line, k) => svg("tspan", { x: start + indent, y: top + lineHeight * k }, line)),
    ),
    svg(
      "text",
      { x: start + indent, y: top + lineHeight * (words.length - 1) + 12, class: "count" },
      plural(item.size, "row") +
        (item.gathered === 0 && node.parent !== null ? ` · ${percent(node.sure)} certain` : ""),
    ),
  ];
}

/** A cluster with clusters below it has its number, and its name where there is room; joins have neither. */
function innerWords(report: Report, item: Item, step: number, r: number): SVGElement[] {
  const { number } = report.nodes[item.node];
  if (item.depth === 0 || number === "") return [];
  const text = step < 90 ? number : shortened(report.nodeName(item.node), step - 8, 10.5);
  return [svg("text", { x: -r - 3, y: -r - 3, class: "name inner", "text-anchor": "end" }, text)];
}

function sign(item: Item, r: number, actions: TreeActions): SVGElement {
  return svg(
    "g",
    {
      class: "sign",
      transform: `translate(${r + 12},0)`,
      onclick: (event: Event) => {
        event.stopPropagation();
        actions.toggle(item.node);
      },
      ondblclick: (event: Event) => event.stopPropagation(),
    },
    svg("rect", { x: -12, y: -12, width: 24, height: 24, fill: "transparent" }),
    svg("rect", { x: -6, y: -6, width: 12, height: 12, rx: 2, class: "box" }),
    svg("path", { d: item.open ? "M-3,0H3" : "M-3,0H3M0,-3V3", class: "plus" }),
  );
}
