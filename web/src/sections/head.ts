// Can it be trusted, and what was done: the first thing to read.
import { h } from "../dom";
import { plural, reported, type Head, type Report } from "../data";

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 100) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 100
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export type Card = [string, string][];

/** Of a run that found clusters. */
export function clusteringCard(report: Report): Card {
  const { head, levels, trust } = report.data;
  const clusters =
    levels.length === 1
      ? `${reported(levels[0])}; ${head.clusters[0].toFixed(1)} on average over ${head.greedy ? "the partitions that cutting the tree can give" : "the draws"}`
      : levels
          .map((level, i) => `level ${level.level}: ${reported(level)}, ${head.clusters[i].toFixed(1)} on average`)
          .join("; ");
  const answers = trust?.modes.map(({ where, sentence }): [string, string] => [
    where === "" ? "Answers" : `Answers, ${where}`,
    sentence,
  ]);
  return [
    ["Columns are", head.family],
    ["Clusters", clusters],
    ...(answers ?? []),
    ...(trust?.fit && trust.fit.sentence !== "" ? [["Fit", trust.fit.sentence] as [string, string]] : []),
    [
      head.greedy ? "Fit" : "Draws",
      head.greedy
        ? `one greedy tree; seed ${head.seed}; ${duration(head.seconds)}`
        : `${plural(head.chains, "chain")} of ${plural(head.draws, "draw")}` +
          `${head.draws < head.asked_draws ? ` of ${head.asked_draws} asked for` : ""} after ${plural(head.warmup, "warm-up sweep")}` +
          `${head.thin > 1 ? `, one sweep in ${head.thin} kept` : ""}; seed ${head.seed}; ${duration(head.seconds)} of sampling`,
    ],
  ];
}

export function headSection(head: Head, entries: Card): HTMLElement {
  const card: Card = [
    ["Model", `${head.model}: ${head.summary}`],
    ["Data", `${head.title}: ${plural(head.rows, "row")}, ${plural(head.columns, "column")}`],
    ...entries,
    ...head.notes.map((note): [string, string] => ["Note", note]),
  ];
  return h(
    "header",
    { id: "verdict" },
    h("p", { class: "kicker" }, "Coppice report"),
    h("h1", {}, h("bdi", {}, head.title)),
    head.inexactness_note
      ? h(
          "div",
          { class: "verdict wait", role: "note", "aria-label": "Caveat" },
          h("strong", {}, "! "),
          head.inexactness_note,
        )
      : null,
    h(
      "div",
      { class: `verdict ${head.trusted ? "good" : "wait"}`, role: "note", "aria-label": "Verdict" },
      h("strong", {}, head.trusted ? "✓ " : "! "),
      head.verdict,
    ),
    h("dl", { class: "card" }, ...card.flatMap(([term, text]) => [h("dt", {}, term), h("dd", {}, text)])),
  );
}
