// How well the clusters agree with labels that were known before.
import { h, scroller, table } from "../dom";
import type { Report } from "../data";

export function knownSection(report: Report): HTMLElement | null {
  const { known, levels } = report.data;
  if (known.length === 0) return null;
  const lines = known.flatMap((entry) =>
    entry.scores.map((score, i) => [
      entry.name,
      String(levels[i].level),
      String(score.clusters),
      String(score.classes),
      ...["f_measure", "ari", "nmi", "vi"].map((name) => score[name].toFixed(3)),
    ]),
  );
  return h(
    "section",
    { id: "known", "aria-labelledby": "known-title" },
    h("h2", { id: "known-title" }, "Known labels"),
    scroller(
      "Agreement with known labels",
      table(
        ["labels", "level", "clusters", "classes", "F", "ARI", "NMI", "VI"],
        lines,
        "Agreement of the reported clusters with labels the model has not seen: F, ARI and NMI are 1 for equal partitions, VI is 0 (nats).",
        [false, true, true, true, true, true, true, true],
      ),
    ),
  );
}
