// How many clusters: the draws against what the prior alone expects.
import { chart, Plot } from "../chart";
import { h } from "../dom";
import { percent, type Report, type Level } from "../data";
import { figure } from "../figure";

interface Share {
  clusters: number;
  share: number;
}

function shares(counts: [number, number][]): Share[] {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  return counts.map(([clusters, count]) => ({ clusters, share: count / total }));
}

function quantile(entries: Share[], probability: number): number {
  let sum = 0;
  for (const { clusters, share } of entries) if ((sum += share) >= probability) return clusters;
  return entries[entries.length - 1].clusters;
}

function mean(entries: Share[]): number {
  return entries.reduce((sum, { clusters, share }) => sum + clusters * share, 0);
}

export function levelsSection(report: Report): HTMLElement {
  const several = report.data.levels.length > 1;
  return h(
    "section",
    { id: "levels", "aria-labelledby": "levels-title" },
    h("h2", { id: "levels-title" }, "Number of clusters"),
    h("div", { class: "grid" }, ...report.data.levels.map((level) => levelFigure(report, level, several))),
  );
}

function levelFigure(report: Report, level: Level, several: boolean): HTMLElement {
  const posterior = shares(level.posterior);
  const prior = shares(level.prior);
  const mode = posterior.reduce((best, entry) => (entry.share > best.share ? entry : best));
  const low = Math.min(quantile(prior, 0.01), posterior[0].clusters);
  const high = Math.max(quantile(prior, 0.99), posterior[posterior.length - 1].clusters);
  const title = several ? `Clusters at level ${level.level}` : "Number of clusters";
  const width = Math.max(1.5, Math.min(16, 300 / (high - low + 2)));
  const sentence =
    `The most frequent number is ${mode.clusters} (${percent(mode.share)} ${report.draws}); nine in ten have ${quantile(posterior, 0.05)} to ` +
    `${quantile(posterior, 0.95)}. The prior alone (line) expects ${mean(prior).toFixed(1)}, nine times in ten ` +
    `${quantile(prior, 0.05)} to ${quantile(prior, 0.95)}. Reported: ${level.clusters - level.unassigned}.` +
    (level.warning === "" ? "" : ` ${level.warning}`);
  const drawing = chart({
    title,
    description: sentence,
    width: 400,
    height: 210,
    marginLeft: 44,
    x: {
      domain: [low - 0.7, high + 0.7],
      label: "clusters",
      tickFormat: (value: number) => (Number.isInteger(value) ? String(value) : ""),
    },
    y: { grid: true, label: report.data.head.greedy ? "% of partitions" : "% of draws", percent: true },
    marks: [
      Plot.ruleX(posterior, {
        x: "clusters",
        y: "share",
        stroke: "var(--sure)",
        strokeWidth: width,
        strokeOpacity: 0.75,
      }),
      Plot.lineY(
        prior.filter(({ clusters }) => clusters <= high),
        { x: "clusters", y: "share", stroke: "var(--quiet)", strokeWidth: 2, strokeDasharray: "5,3" },
      ),
      prior.length <= 30
        ? Plot.dot(prior, { x: "clusters", y: "share", fill: "var(--quiet)", r: 2.5, clip: true })
        : null,
      Plot.ruleY([0]),
    ],
  });
  const made = figure({
    name: `clusters-level-${level.level}`,
    title,
    body: h("div", {}, drawing),
    drawings: () => [drawing],
    rows: function* () {
      yield ["clusters", report.data.head.greedy ? "share_of_partitions" : "share_of_draws", "share_of_prior"];
      const all = new Map<number, [number, number]>();
      for (const { clusters, share } of posterior) all.set(clusters, [share, 0]);
      for (const { clusters, share } of prior) all.set(clusters, [all.get(clusters)?.[0] ?? 0, share]);
      for (const [clusters, [a, b]] of [...all].sort((x, y) => x[0] - y[0])) yield [clusters, a, b];
    },
  });
  made.say(sentence);
  return made.element;
}
