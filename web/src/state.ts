// What is chosen. Every section listens; a click in one place shows everywhere.

type Listener = () => void;

export class State {
  node = 0;
  row: number | null = null;
  level = 1;
  private readonly listeners: Record<"node" | "row" | "level" | "theme", Listener[]> = {
    node: [],
    row: [],
    level: [],
    theme: [],
  };

  constructor() {
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.tell("theme"));
  }

  on(what: "node" | "row" | "level" | "theme", listener: Listener): void {
    this.listeners[what].push(listener);
  }
  chooseNode(node: number): void {
    this.node = node;
    this.tell("node");
  }
  chooseRow(row: number | null): void {
    this.row = row;
    this.tell("row");
  }
  chooseLevel(level: number): void {
    this.level = level;
    this.tell("level");
  }
  private tell(what: "node" | "row" | "level" | "theme"): void {
    for (const listener of this.listeners[what]) listener();
  }
}

/** Colors of clusters: branches below the root, or the clusters themselves if the root has many joins. */
export function branchColors(nodes: { parent: number | null; children: number[]; level: number }[]): Int32Array {
  const color = new Int32Array(nodes.length).fill(-1);
  let next = 0;
  nodes.forEach((node, id) => {
    if (node.parent === null) return;
    const above = color[node.parent];
    // A join of clusters has no color of its own; a cluster below a cluster has that of its branch.
    if (node.level === 0) return;
    color[id] = above >= 0 ? above : next++;
  });
  return color;
}
