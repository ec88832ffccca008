// Which nodes are drawn, and where: every leaf that is drawn has a band of the height, and the heatmap beside the tree
// has the same bands. A parent of many children shows the largest and gathers the others.
import type { Report } from "./data";

export interface Item {
  node: number; // of a gathering: its parent
  gathered: number; // how many children it represents; 0: it is a node
  depth: number;
  first: number;
  end: number;
  size: number;
  open: boolean;
  children: Item[];
  parent: Item | null;
  top: number;
  height: number;
  y: number;
}

export interface Layout {
  root: Item;
  leaves: Item[];
  items: Item[];
  depth: number;
  height: number;
}

const roomy = 40; // of a band with few others: two lines and a count
const tight = 26;
const mostRoomy = 16;
const mostLeaves = 40;
const mostChildren = 30;

export class TreeView {
  root = 0;
  private readonly open = new Set<number>();
  private readonly wholly = new Set<number>(); // parents whose children are all drawn

  constructor(private readonly report: Report) {
    this.openUntil(mostLeaves);
  }

  isOpen(node: number): boolean {
    return this.open.has(node);
  }
  toggle(node: number): void {
    if (!this.open.delete(node) && this.report.nodes[node].children.length > 0) this.open.add(node);
  }
  showAllChildren(node: number): void {
    this.wholly.add(node);
  }
  openAll(): void {
    this.report.nodes.forEach((node, id) => {
      if (node.children.length > 0) this.open.add(id);
    });
  }
  closeAll(): void {
    this.open.clear();
    this.open.add(this.root);
  }
  /** Opens what is above the node, so that it is drawn. */
  reveal(node: number): void {
    for (const above of this.report.path(node).slice(0, -1)) {
      this.open.add(above);
      if (this.report.nodes[above].children.length > mostChildren) this.wholly.add(above);
    }
    if (!this.report.path(node).includes(this.root)) this.root = 0;
  }
  /** Opens level after level as long as there are at most this many leaves. */
  private openUntil(leaves: number): void {
    let row = [0];
    let drawn = 1;
    while (row.length > 0) {
      const parents = row.filter((node) => this.report.nodes[node].children.length > 0);
      const more = parents.reduce(
        (sum, node) => sum + Math.min(this.report.nodes[node].children.length, mostChildren) - 1,
        0,
      );
      if (this.open.size > 0 && drawn + more > leaves) return;
      for (const node of parents) this.open.add(node);
      drawn += more;
      row = parents.flatMap((node) => this.report.nodes[node].children);
    }
  }

  /** The drawn tree; heights sum to about `height`, more if bands would be too low. */
  layout(height: number): Layout {
    const leaves: Item[] = [];
    const items: Item[] = [];
    let depth = 0;
    const make = (node: number, level: number, parent: Item | null): Item => {
      const { children, first, end, size } = this.report.nodes[node];
      const open = this.open.has(node) && children.length > 0;
      const item: Item = {
        node,
        gathered: 0,
        depth: level,
        first,
        end,
        size,
        open,
        children: [],
        parent,
        top: 0,
        height: 0,
        y: 0,
      };
      items.push(item);
      depth = Math.max(depth, level);
      if (!open) {
        leaves.push(item);
        return item;
      }
      const most = this.wholly.has(node) || children.length <= mostChildren ? children.length : mostChildren - 1;
      for (const child of children.slice(0, most)) item.children.push(make(child, level + 1, item));
      const rest = children.slice(most);
      if (rest.length > 0) {
        const gathering: Item = {
          node,
          gathered: rest.length,
          depth: level + 1,
          first: this.report.nodes[rest[0]].first,
          end: this.report.nodes[rest[rest.length - 1]].end,
          size: rest.reduce((sum, id) => sum + this.report.nodes[id].size, 0),
          open: false,
          children: [],
          parent: item,
          top: 0,
          height: 0,
          y: 0,
        };
        items.push(gathering);
        leaves.push(gathering);
        item.children.push(gathering);
        depth = Math.max(depth, level + 1);
      }
      return item;
    };
    const root = make(this.root, 0, null);
    const rows = Math.max(1, root.end - root.first);
    const perRow = Math.min(15, height / rows);
    const leastBand = leaves.length <= mostRoomy ? roomy : tight;
    let top = 0;
    for (const leaf of leaves) {
      leaf.top = top;
      leaf.height = Math.max(leastBand, (leaf.end - leaf.first) * perRow);
      top += leaf.height + 3;
    }
    const place = (item: Item): void => {
      item.children.forEach(place);
      if (item.children.length === 0) {
        item.y = item.top + item.height / 2;
        return;
      }
      const last = item.children[item.children.length - 1];
      item.top = item.children[0].top;
      item.height = last.top + last.height - item.top;
      item.y = (item.children[0].y + last.y) / 2;
    };
    place(root);
    return { root, leaves, items, depth, height: Math.max(leastBand, top - 3) };
  }
}
