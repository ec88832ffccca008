// What is chosen. Every section listens; a click in one place shows everywhere.

type Listener = () => void;
type Event = "node" | "row" | "level" | "theme" | "names";

export class State {
  node = 0;
  row: number | null = null;
  level = 1;
  private readonly listeners: Record<Event, Listener[]> = { node: [], row: [], level: [], theme: [], names: [] };

  constructor() {
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.tell("theme"));
  }

  on(what: Event, listener: Listener): void {
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
  /** A cluster was renamed. */
  rename(): void {
    this.tell("names");
  }
  private tell(what: Event): void {
    for (const listener of this.listeners[what]) listener();
  }
}

/** Colors of clusters by their numbers: those of the coarsest level, which all clusters below them share. */
export function branchColors(
  nodes: { parent: number | null; level: number; addresses: [number, number][] }[],
): Int32Array {
  const color = new Int32Array(nodes.length).fill(-1);
  nodes.forEach((node, id) => {
    if (node.parent === null) return;
    const above = color[node.parent];
    // A join of clusters has no color of its own; a cluster below a cluster has that of its branch.
    if (node.level === 0) return;
    color[id] = above >= 0 ? above : node.addresses[0][1];
  });
  return color;
}
