// The page of a classifier: predictive performance, clusters, labels that occur together, and every row with its labels.
import { plural } from "../data";
import { mount } from "../page";
import { duration, headSection, type Card } from "../sections/head";
import { reproduceSection } from "../sections/reproduce";
import { State } from "../state";
import { LabelReport, type LabelReportData } from "./data";
import { patternsSection } from "./patterns";
import { labelRowsSection } from "./rows";
import { scoresSection } from "./scores";
import { cooccurrenceSection } from "./cooccurrence";

function labelCard(report: LabelReport): Card {
  const { head, labels } = report.data;
  const used = labels.patterns.length;
  return [
    ["Labels", `${plural(head.labels, "label")} learned`],
    ["Clusters", `${plural(used, "cluster")} of features and labels, and a linear classifier for each label`],
    ["Fit", `one variational fit; seed ${head.seed}; ${duration(head.seconds)}`],
    [
      "Judged by",
      labels.held_out
        ? "the rows of the fit, each predicted by a fit without it (calibration and thresholds were chosen on them)"
        : "the rows of the fit themselves, which is optimistic: the run has no predictions of held-out rows",
    ],
  ];
}

export function startLabels(root: HTMLElement, data: LabelReportData): void {
  const report = new LabelReport(data);
  const state = new State();
  mount(
    root,
    headSection(data.head, labelCard(report)),
    { id: "scores", label: "Performance", make: () => scoresSection(report, state) },
    [
      { id: "patterns", label: "Clusters", make: () => patternsSection(report, state) },
      { id: "rows", label: "Rows", make: () => labelRowsSection(report, state) },
      { id: "cooccurrence", label: "Co-occurrence", make: () => cooccurrenceSection(report, state) },
      { id: "reproduce", label: "Reproduce", make: () => reproduceSection(data.reproduce) },
    ],
  );
}
