// What the program writes into the page (src/coppice/app/report_data.cpp), and its arrays unpacked. Rows are in
// the order of the tree and are named by their place in it.

import { type TrustData } from "./sections/trust";

export interface Trait {
  column: string;
  kind: Kind;
  words: string;
  divergence: number;
  inside: number;
  outside: number;
  inside_sd: number | null;
  outside_sd: number | null;
  level: string;
}

export type Kind = "real" | "count" | "binary" | "category";

export interface Node {
  parent: number | null;
  children: number[];
  level: number;
  last_level: number;
  size: number;
  first: number;
  end: number;
  height: number;
  exact: number | null;
  sure: number;
  number: string; // "3", or "2.3" for cluster 3 of level 2; empty for the root and for joins
  addresses: [number, number][]; // level and cluster
  name: string;
  described_as: string; // what distinguishes it from all other rows
  against_siblings: Trait[];
  against_all: Trait[];
  exemplars: number[];
  outliers: number[];
}

export interface Ambiguous {
  row: number;
  cluster: number;
  probability: number;
  rival: number;
  rival_probability: number;
  entropy: number;
}

export interface Level {
  level: number;
  clusters: number; // with those that are a row that cannot be placed
  unassigned: number; // such rows
  node_of: number[];
  posterior: [number, number][];
  prior: [number, number][];
  warning: string; // if the prior decides; else empty
  membership: number[][];
  ambiguous: Ambiguous[];
  coclustering: { bins: number; values: string };
}

export interface Trace {
  name: string;
  mean: number;
  sd: number;
  median: number;
  q05: number;
  q95: number;
  rhat: number | null;
  ess_bulk: number | null;
  ess_tail: number | null;
  mcse_mean: number | null;
  constant: boolean;
  step: number;
  values: number[][];
}

export interface Column {
  name: string;
  kind: Kind;
  levels: string[];
  dates: Dates | null;
  strength: number;
}

/** What the numbers of a column of dates or times count: from when (in seconds since 1970, or since midnight), and whether
 * days or seconds. */
export interface Dates {
  origin: number;
  days: boolean;
  clock: boolean;
}

// What the model learned about a column.
export interface Separation {
  column: string;
  kind: Kind;
  family: string;
  learned: boolean;
  transform: string;
  measure: "sd" | "difference";
  overall: number | null;
  within: number | null;
  between: number;
}

// A learned hyper-parameter of a column, or of all columns of a family (the column is then empty); or how probable a
// level of a column is in a cluster.
export interface LearnedValue {
  column: string;
  family: string;
  parameter: string;
  transform: string;
  level: string;
  mean: number;
  sd: number;
  q05: number;
  q95: number;
}

export interface Known {
  name: string;
  levels: string[];
  codes: string;
  scores: Record<string, number>[];
  tables: CrossTable[]; // of each level
}

export interface CrossTable {
  classes: string[];
  counts: number[][]; // of each cluster
  unknown: number[];
}

export interface View {
  columns: number[]; // places in the list of columns
  cohesion: number;
  clusters: number;
  labels: string;
}

export interface Head {
  title: string;
  model: string;
  summary: string;
  rows: number;
  columns: number;
  chains: number;
  draws: number;
  asked_draws: number;
  done: number; // draws, or steps of a fit without draws
  warmup: number;
  thin: number;
  seed: number;
  complete: boolean;
  trusted: boolean;
  verdict: string;
  greedy: boolean;
  exact?: boolean;
  inexactness_note?: string;
  family: string;
  seconds: number;
  clusters: number[];
  levels: number;
  notes: string[];
  worst_trace: string;
}

export interface Reproduce {
  command: string;
  toml: string;
  codebook: string;
  merged: boolean;
  data: string;
  digest: string;
  created_at: string;
  fitted_with: string;
  reported_with: string;
  compiler: string;
}

export interface ExpectedCell {
  mean: number | string | null; // dates and times are texts
  median: number | string | null;
  low: number | string | null;
  high: number | string | null;
  mode: string | null;
  probability: number | null;
  probabilities: Record<string, number>;
}

export interface UnusualRow {
  row: string;
  log_density: number | null;
  excess: number | null;
  cells: { column: string; value: number | string | null; excess: number | null; expected: ExpectedCell }[];
}

export interface Dependence {
  first: string;
  second: string;
  mutual_information: number;
  low: number;
  high: number;
  correlation: number;
  share_of_first: number | null;
  share_of_second: number | null;
  same_view: number | null;
}

export interface ReportData {
  format: number;
  head: Head;
  columns: Column[];
  rows: { total: number; ids: string[] };
  cells: string;
  known: Known[];
  tree: { hierarchy: boolean; sentence: string; nodes: Node[] };
  views: { views: View[]; matrix_columns: number[]; coassignment: string } | null;
  levels: Level[];
  separation: Separation[];
  learned: LearnedValue[];
  questions: { unusual: UnusualRow[]; dependence: Dependence[] };
  traces: Trace[];
  trust: TrustData | null;
  moves: { name: string; proposed: number; accepted: number; rate: number | null }[];
  reproduce: Reproduce;
}

export function unpack(text: string): ArrayBuffer {
  const bytes = atob(text);
  const array = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) array[i] = bytes.charCodeAt(i);
  return array.buffer;
}

/** The data with what every section asks of them. */
export class Report {
  readonly cells: Float32Array;
  readonly width: number;
  readonly leafOfRow: Int32Array;
  readonly knownCodes: Int32Array[];
  private readonly renamed = new Map<number, string>();
  private readonly matrices = new Map<number, Uint16Array>();

  constructor(readonly data: ReportData) {
    this.width = data.columns.length;
    this.cells = new Float32Array(unpack(data.cells));
    this.knownCodes = data.known.map((known) => new Int32Array(unpack(known.codes)));
    this.leafOfRow = new Int32Array(data.rows.ids.length);
    data.tree.nodes.forEach((node, id) => {
      if (node.children.length === 0) this.leafOfRow.fill(id, node.first, node.end);
    });
  }

  /** How often rows (or bins of rows) share a cluster at a level (from 1), as shares of 65535; row-major. */
  coclustering(level: number): Uint16Array {
    let matrix = this.matrices.get(level);
    if (matrix === undefined) {
      matrix = new Uint16Array(unpack(this.data.levels[level - 1].coclustering.values));
      this.matrices.set(level, matrix);
    }
    return matrix;
  }
  get nodes(): Node[] {
    return this.data.tree.nodes;
  }
  get rows(): number {
    return this.data.rows.ids.length;
  }
  rowName(row: number): string {
    return this.data.rows.ids[row];
  }
  /** A cell as a reader would write it; empty if it is missing. */
  cellText(row: number, column: number): string {
    return this.valueText(this.cells[row * this.width + column], this.data.columns[column]);
  }
  valueText(value: number, column: Column): string {
    if (Number.isNaN(value)) return "";
    if (column.levels.length > 0) return column.levels[Math.round(value)] ?? String(value);
    return column.dates ? momentText(value, column.dates) : String(Number(value.toPrecision(6)));
  }
  /** From the root down to the node. */
  path(node: number): number[] {
    const path = [node];
    for (let up = this.nodes[node].parent; up !== null; up = this.nodes[up].parent) path.unshift(up);
    return path;
  }
  contains(node: number, row: number): boolean {
    return this.nodes[node].first <= row && row < this.nodes[node].end;
  }
  /** What shares are shares of. */
  get draws(): string {
    return this.data.head.greedy ? "of the partitions that cutting the tree can give" : "of the draws";
  }
  /** Its number and its name. */
  nodeName(id: number): string {
    const { number } = this.nodes[id];
    const name = this.plainName(id);
    return number === "" || this.nodes[id].parent === null ? name : `${number} ${name}`;
  }
  /** What the reader called it, or the run, or what distinguishes it. */
  plainName(id: number): string {
    return this.nodes[id].parent === null ? "all rows" : (this.renamed.get(id) ?? this.nodes[id].name);
  }
  /** "3", or the name where there is no number. */
  shortName(id: number): string {
    return this.nodes[id].number || this.plainName(id);
  }
  /** Gives a cluster a name on this page; an empty one takes it away. */
  rename(id: number, name: string): void {
    this.renamed.set(id, name.trim() === "" ? this.nodes[id].described_as : name.trim());
  }
  /** Whether the run has a name for it. */
  wasNamed(id: number): boolean {
    return this.nodes[id].name !== this.nodes[id].described_as;
  }
  isNamed(id: number): boolean {
    return this.plainName(id) !== this.nodes[id].described_as;
  }
  /** The node of each row at a level (from 1). */
  nodesAt(level: number): Int32Array {
    const nodes = new Int32Array(this.rows).fill(-1);
    for (const id of this.data.levels[level - 1].node_of) nodes.fill(id, this.nodes[id].first, this.nodes[id].end);
    return nodes;
  }
}

/** What is reported at a level: rows that cannot be placed are not clusters. */
export function reported(level: Level): string {
  const words = `${plural(level.clusters - level.unassigned, "cluster")} reported`;
  return level.unassigned === 0 ? words : `${words}, and ${plural(level.unassigned, "unassigned row")}`;
}

export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

/** "43 %"; never 0 or 100 for what is not certain. */
export function percent(share: number): string {
  if (share > 0 && share < 0.01) return "<1 %";
  if (share < 1 && share > 0.99) return ">99 %";
  return `${Math.round(100 * share)} %`;
}

/** A number of a column as a short text. */
export function briefIn(column: Column, value: number): string {
  return column.dates ? momentText(value, column.dates) : brief(value);
}

const latest = 253402300799; // the last second of the year 9999

function momentText(value: number, { origin, days, clock }: Dates): string {
  const seconds = origin + value * (days ? 86400 : 1);
  if (!(Math.abs(seconds) <= latest)) return String(value);
  const text = new Date(1000 * Math.round(days ? 86400 * Math.round(seconds / 86400) : seconds)).toISOString();
  return clock ? text.slice(11, 19) : text.slice(0, days ? 10 : 19);
}

export function brief(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
