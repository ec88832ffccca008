// The two directions in which rows vary most, of standardized columns: missing cells are at the mean of their column, and
// the levels of a category are columns of their own. Found by power iteration on evenly spaced rows.
import type { Report } from "./data";

const mostCells = 400_000; // rows x columns that the axes are found from
const mostLevels = 20; // of a category
const steps = 60;

interface Feature {
  column: number;
  level: number; // of a category, otherwise -1
  mean: number;
  scale: number;
}

export interface Axis {
  share: number; // of the variance
  scores: Float32Array; // of each row
  strongest: string; // the column with the largest weight
}

function value(report: Report, feature: Feature, row: number): number {
  const cell = report.cells[row * report.width + feature.column];
  if (Number.isNaN(cell)) return 0;
  return ((feature.level < 0 ? cell : Number(cell === feature.level)) - feature.mean) * feature.scale;
}

function featuresOf(report: Report): Feature[] {
  const features: Feature[] = [];
  report.data.columns.forEach(({ kind, levels }, column) => {
    const parts = kind === "category" ? Math.min(levels.length, mostLevels) : 1;
    for (let level = 0; level < parts; level++) {
      const feature = { column, level: kind === "category" ? level : -1, mean: 0, scale: 1 };
      let [count, sum, squares] = [0, 0, 0];
      for (let row = 0; row < report.rows; row++) {
        const cell = report.cells[row * report.width + column];
        if (Number.isNaN(cell)) continue;
        const x = feature.level < 0 ? cell : Number(cell === level);
        count++;
        // Welford's recursion: large offsets do no harm.
        const before = x - sum;
        sum += before / count;
        squares += before * (x - sum);
      }
      const sd = Math.sqrt(squares / Math.max(1, count));
      if (!(sd > 0)) continue;
      // Indicators of one category together weigh about as much as a number.
      features.push({ ...feature, mean: sum, scale: 1 / (sd * Math.sqrt(parts)) });
    }
  });
  return features;
}

export function principalAxes(report: Report): Axis[] {
  const features = featuresOf(report);
  const step = Math.max(1, Math.ceil((report.rows * features.length) / mostCells));
  const rows: number[] = [];
  for (let row = 0; row < report.rows; row += step) rows.push(row);
  const width = features.length;
  const cells = new Float32Array(rows.length * width);
  let total = 0;
  rows.forEach((row, i) => {
    for (let j = 0; j < width; j++) {
      const x = value(report, features[j], row);
      cells[i * width + j] = x;
      total += x * x;
    }
  });
  const axes: Float64Array[] = [];
  const found: Axis[] = [];
  for (let k = 0; k < 2 && k < width; k++) {
    // Any start that is not orthogonal to the axis will do; this one has no symmetry.
    let axis = Float64Array.from({ length: width }, (_, j) => 1 + ((j * 0.618) % 1));
    let length = 0;
    for (let s = 0; s < steps; s++) {
      for (const other of axes) {
        let dot = 0;
        for (let j = 0; j < width; j++) dot += axis[j] * other[j];
        for (let j = 0; j < width; j++) axis[j] -= dot * other[j];
      }
      const next = new Float64Array(width);
      for (let i = 0; i < rows.length; i++) {
        let dot = 0;
        for (let j = 0; j < width; j++) dot += cells[i * width + j] * axis[j];
        for (let j = 0; j < width; j++) next[j] += cells[i * width + j] * dot;
      }
      length = Math.hypot(...next);
      if (!(length > 0)) return found;
      axis = next.map((x) => x / length);
    }
    axes.push(axis);
    const scores = new Float32Array(report.rows);
    for (let row = 0; row < report.rows; row++) {
      let sum = 0;
      for (let j = 0; j < width; j++) sum += axis[j] * value(report, features[j], row);
      scores[row] = sum;
    }
    let most = 0;
    for (let j = 1; j < width; j++) if (Math.abs(axis[j]) > Math.abs(axis[most])) most = j;
    found.push({ share: length / total, scores, strongest: report.data.columns[features[most].column].name });
  }
  return found;
}
