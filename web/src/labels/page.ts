// The page of a run that learned labels: how good it is, what its clusters are, which labels come together, and every
// row with its labels.
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
    ["Clusters", `${plural(used, "cluster")} of features and labels, and a linear classifier of each label`],
    ["Fit", `one variational fit; seed ${head.seed}; ${duration(head.seconds)}`],
    [
      "Judged by",
      labels.held_out
        ? "the rows of the fit, each predicted by a fit that had not seen it (calibration and thresholds were chosen on them)"
        : "the rows of the fit themselves, which flatters: no predictions of rows held out were kept",
    ],
  ];
}

export function startLabels(root: HTMLElement, data: LabelReportData): void {
  const report = new LabelReport(data);
  const state = new State();
  mount(
    root,
    headSection(data.head, labelCard(report)),
    { id: "scores", label: "How good", make: () => scoresSection(report, state) },
    [
      { id: "patterns", label: "Clusters", make: () => patternsSection(report, state) },
      { id: "rows", label: "Rows", make: () => labelRowsSection(report, state) },
      { id: "cooccurrence", label: "Co-occurrence", make: () => cooccurrenceSection(report, state) },
      { id: "reproduce", label: "Reproduce", make: () => reproduceSection(data.reproduce) },
    ],
  );
}
