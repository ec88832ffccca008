// What the program writes into the page of a run that learned labels (src/coppice/app/report_labels.cpp), and its
// arrays unpacked.
import { unpack, type Column, type Head, type Reproduce } from "../data";

export interface LabelScores {
  known: number;
  positives: number;
  chosen: number;
  hits: number;
  precision: number;
  recall: number;
  f1: number;
  mean_probability: number;
  log_loss: number;
}

/** Cells, what was said of them on average, and how often it was so; from 0 to 1 in ten parts. */
export interface Reliability {
  error: number;
  bins: [number, number, number][];
}

export interface Pattern {
  cluster: number;
  weight: number;
  rows: number;
  labels: number[];
  features: { column: string; value: number; log_ratio: number }[];
}

export interface LabelReportData {
  format: number;
  head: Head & { labels: number };
  columns: Column[];
  rows: { total: number; ids: string[] };
  cells: string;
  labels: {
    names: string[];
    held_out: boolean;
    stacked: boolean;
    label_model: string;
    rule: string;
    thresholds: (number | null)[];
    scores: Record<string, number>;
    by_label: LabelScores[];
    reliability: Reliability;
    reliability_by_label: Reliability[];
    cooccurrence: { labels: number[]; counts: number[] };
    patterns: Pattern[];
    probabilities: string;
    states: string;
    densities: string;
    clusters: number[][];
  };
  reproduce: Reproduce;
}

export class LabelReport {
  readonly densities: Float32Array;
  readonly frequent: number[]; // labels, the most frequent first
  private readonly prefix: number; // letters that all names begin with, up to a sign such as _
  private readonly shares: Uint16Array;
  private readonly states: Uint8Array;
  private readonly cells: Float32Array;

  constructor(readonly data: LabelReportData) {
    const { labels } = data;
    this.shares = new Uint16Array(unpack(labels.probabilities));
    this.states = new Uint8Array(unpack(labels.states));
    this.densities = new Float32Array(unpack(labels.densities));
    this.cells = new Float32Array(unpack(data.cells));
    const [first, ...others] = labels.names.map((name) => [...name]);
    let same = 0;
    while (others.length > 0 && same < first.length && others.every((name) => name[same] === first[same])) same++;
    while (same > 0 && /[\p{L}\p{N}]/u.test(first[same - 1])) same--;
    this.prefix = same;
    this.frequent = labels.names
      .map((_, c) => c)
      .sort((a, b) => labels.by_label[b].positives - labels.by_label[a].positives);
  }
  get rows(): number {
    return this.data.rows.ids.length;
  }
  get names(): string[] {
    return this.data.labels.names;
  }
  /** A name for an axis: without what all names begin with, and not too long; equal ones are told apart. */
  tick(label: number, most = 22): string {
    const text = short([...this.names[label]].slice(this.prefix).join(""), most);
    const twin = this.names.some(
      (name, c) => c !== label && short([...name].slice(this.prefix).join(""), most) === text,
    );
    return twin ? `${short(text, most - 4)} #${label}` : text;
  }
  rowName(row: number): string {
    return this.data.rows.ids[row];
  }
  probability(row: number, label: number): number {
    return this.shares[row * this.names.length + label] / 65535;
  }
  /** Whether the row has the label; null if unknown. */
  truth(row: number, label: number): boolean | null {
    const state = this.states[row * this.names.length + label] & 3;
    return state === 0 ? null : state === 2;
  }
  chosen(row: number, label: number): boolean {
    return (this.states[row * this.names.length + label] & 4) !== 0;
  }
  cell(row: number, column: number): number {
    return this.cells[row * this.data.columns.length + column];
  }
  /** Clusters of a row, the most probable first. */
  clusters(row: number): { cluster: number; share: number }[] {
    const flat = this.data.labels.clusters[row];
    return Array.from({ length: flat.length / 2 }, (_, i) => ({ cluster: flat[2 * i], share: flat[2 * i + 1] })).sort(
      (a, b) => b.share - a.share,
    );
  }
  patternOf(cluster: number): Pattern | undefined {
    return this.data.labels.patterns.find((pattern) => pattern.cluster === cluster);
  }
  /** Mean log loss of a row's known labels; null if none is known. */
  loss(row: number): number | null {
    let sum = 0;
    let count = 0;
    for (let c = 0; c < this.names.length; c++) {
      const truth = this.truth(row, c);
      if (truth === null) continue;
      const said = truth ? this.probability(row, c) : 1 - this.probability(row, c);
      sum -= Math.log(Math.max(said, 1 / 65535));
      count++;
    }
    return count === 0 ? null : sum / count;
  }
  /** Whose rows are spoken of. */
  get whose(): string {
    return this.data.labels.held_out
      ? "each row predicted by a fit without it"
      : "in-sample predictions, which are optimistic";
  }
}

export function short(text: string, most = 22): string {
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}
