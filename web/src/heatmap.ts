// The data as colored cells, on a canvas: rows of a band that is lower than its rows are many are averaged, so that
// any number of rows can be drawn.
import { quantileSorted } from "d3-array";
import type { Report } from "./data";
import { amounts, levelColor, labelColor, rgb, type Rgb } from "./palette";

const missing = 255;

export interface Band {
  first: number;
  end: number;
  top: number;
  height: number;
}

export interface Selection {
  rows: Int32Array;
  columns: number[];
}

interface Shade {
  categorical: boolean;
  colors: Rgb[];
}

/** Every cell as the number of its color. */
export class Shades {
  readonly codes: Uint8Array;
  readonly shades: Shade[];

  constructor(private readonly report: Report) {
    const { width, rows, cells } = report;
    this.codes = new Uint8Array(rows * width);
    this.shades = report.data.columns.map((column) => ({
      categorical: column.kind === "category",
      colors: column.kind === "category" ? column.levels.slice(0, missing).map((_, i) => rgb(levelColor(i))) : amounts,
    }));
    for (let j = 0; j < width; j++) {
      if (this.shades[j].categorical) {
        for (let i = 0; i < rows; i++) {
          const value = cells[i * width + j];
          this.codes[i * width + j] = Number.isNaN(value) ? missing : Math.min(missing - 1, value);
        }
        continue;
      }
      const [low, high] = this.range(j);
      const scale = high > low ? 254 / (high - low) : 0;
      for (let i = 0; i < rows; i++) {
        const value = cells[i * width + j];
        this.codes[i * width + j] = Number.isNaN(value)
          ? missing
          : Math.max(0, Math.min(254, Math.round((value - low) * scale)));
      }
    }
  }

  /** Between which values colors change: all but the most extreme hundredths. */
  private range(column: number): [number, number] {
    const { width, rows, cells, data } = this.report;
    if (data.columns[column].kind === "binary") return [0, 1];
    const step = Math.max(1, Math.floor(rows / 5000));
    const sample: number[] = [];
    for (let i = 0; i < rows; i += step) {
      const value = cells[i * width + column];
      if (!Number.isNaN(value)) sample.push(value);
    }
    if (sample.length === 0) return [0, 0];
    sample.sort((a, b) => a - b);
    const low = quantileSorted(sample, 0.02) as number;
    const high = quantileSorted(sample, 0.98) as number;
    return high > low ? [low, high] : [sample[0], sample[sample.length - 1]];
  }

  /** Color of a column over places [first, end): the mean of amounts, the most frequent of kinds; null: all missing. */
  private color(column: number, first: number, end: number, rows: Int32Array | null): Rgb | null {
    const { width } = this.report;
    const shade = this.shades[column];
    if (shade.categorical) {
      const counts = new Map<number, number>();
      let best = missing;
      for (let i = first; i < end; i++) {
        const code = this.codes[(rows === null ? i : rows[i]) * width + column];
        if (code === missing) continue;
        const count = (counts.get(code) ?? 0) + 1;
        counts.set(code, count);
        if (best === missing || count > (counts.get(best) as number)) best = code;
      }
      return best === missing ? null : shade.colors[best];
    }
    let sum = 0;
    let count = 0;
    for (let i = first; i < end; i++) {
      const code = this.codes[(rows === null ? i : rows[i]) * width + column];
      if (code === missing) continue;
      sum += code;
      count++;
    }
    return count === 0 ? null : shade.colors[Math.round(sum / count)];
  }

  /** Draws bands over the whole width of the canvas; `blank` is the color of missing cells. A selection has rows in an
   * order of their own and some of the columns. */
  draw(canvas: HTMLCanvasElement, bands: Band[], blank: Rgb, selection: Selection | null = null): void {
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = false;
    const scale = canvas.height / Math.max(1, canvas.clientHeight || Number(canvas.dataset.height));
    const width = selection?.columns.length ?? this.report.width;
    const order = selection?.rows ?? null;
    for (const band of bands) {
      const rows = band.end - band.first;
      const lines = Math.max(1, Math.min(rows, Math.floor(band.height * scale)));
      const image = new ImageData(width, lines);
      for (let line = 0; line < lines; line++) {
        const first = band.first + Math.floor((line * rows) / lines);
        const end = Math.max(first + 1, band.first + Math.floor(((line + 1) * rows) / lines));
        for (let j = 0; j < width; j++) {
          const [r, g, b] = this.color(selection?.columns[j] ?? j, first, end, order) ?? blank;
          const at = 4 * (line * width + j);
          image.data[at] = r;
          image.data[at + 1] = g;
          image.data[at + 2] = b;
          image.data[at + 3] = 255;
        }
      }
      const small = document.createElement("canvas");
      small.width = width;
      small.height = lines;
      small.getContext("2d")?.putImageData(image, 0, 0);
      context.drawImage(small, 0, band.top * scale, canvas.width, band.height * scale);
    }
  }
}

/** One narrow strip of known labels: the most frequent label of each line. */
export function drawStrip(canvas: HTMLCanvasElement, codes: Int32Array, bands: Band[]): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const scale = canvas.height / Math.max(1, Number(canvas.dataset.height));
  for (const band of bands) {
    const rows = band.end - band.first;
    const lines = Math.max(1, Math.min(rows, Math.floor(band.height * scale)));
    for (let line = 0; line < lines; line++) {
      const first = band.first + Math.floor((line * rows) / lines);
      const end = Math.max(first + 1, band.first + Math.floor(((line + 1) * rows) / lines));
      const counts = new Map<number, number>();
      let best = -1;
      for (let i = first; i < end; i++) {
        const count = (counts.get(codes[i]) ?? 0) + 1;
        counts.set(codes[i], count);
        if (codes[i] >= 0 && (best < 0 || count > (counts.get(best) as number))) best = codes[i];
      }
      context.fillStyle = labelColor(best);
      const top = band.top * scale;
      const high = band.height * scale;
      context.fillRect(0, Math.floor(top + (line * high) / lines), canvas.width, Math.ceil(high / lines));
    }
  }
}
