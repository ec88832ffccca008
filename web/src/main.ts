// The page of a run. Sections are independent: each takes the report and the state and returns an element.
import "./style.css";
import { Report, type ReportData } from "./data";
import { h } from "./dom";
import { type LabelReportData } from "./labels/data";
import { startLabels } from "./labels/page";
import { watch } from "./live";
import { openListsOnPaper } from "./name_list";
import { mount, type Section } from "./page";
import { branchColors, State } from "./state";
import { clusterSection } from "./sections/cluster";
import { coclusteringSection } from "./sections/coclustering";
import { convergenceSection } from "./sections/convergence";
import { clusteringCard, headSection } from "./sections/head";
import { distributionsSection } from "./sections/distributions";
import { knownSection } from "./sections/known";
import { levelsSection } from "./sections/levels";
import { planeSection } from "./sections/plane";
import { questionsSection } from "./sections/questions";
import { reproduceSection } from "./sections/reproduce";
import { rowsSection } from "./sections/rows";
import { separationSection } from "./sections/separation";
import { trustSection } from "./sections/trust";
import { treeSection } from "./sections/tree";
import { viewsSection } from "./sections/views";

function start(root: HTMLElement, data: ReportData): void {
  const report = new Report(data);
  const state = new State();
  const colors = branchColors(report.nodes);
  const sections: Section[] = [
    { id: "distributions", label: "Distributions", make: () => distributionsSection(report, state, colors) },
    { id: "plane", label: "Plane", make: () => planeSection(report, state, colors) },
    { id: "views", label: "Views", make: () => viewsSection(report, state) },
    { id: "rows", label: "Rows", make: () => rowsSection(report, state, colors) },
    { id: "coclustering", label: "Co-clustering", make: () => coclusteringSection(report, state) },
    { id: "levels", label: "Number of clusters", make: () => levelsSection(report) },
    { id: "separation", label: "Columns", make: () => separationSection(report) },
    {
      id: "questions",
      label: data.questions.unusual.length > 0 ? "Unusual rows" : "Dependence",
      make: () => questionsSection(report),
    },
    { id: "known", label: "Known labels", make: () => (data.known.length > 0 ? knownSection(report, state) : null) },
    { id: "trust", label: "Trust", make: () => trustSection(data.trust) },
    { id: "convergence", label: "Convergence", make: () => (data.head.greedy ? null : convergenceSection(report)) },
    { id: "reproduce", label: "Reproduce", make: () => reproduceSection(data.reproduce) },
  ];
  const tree = h(
    "section",
    { id: "tree", "aria-labelledby": "tree-title" },
    h("h2", { id: "tree-title" }, data.tree.hierarchy ? "The hierarchy" : "The clusters"),
    h("div", { class: "split" }, treeSection(report, state, colors), clusterSection(report, state, colors)),
  );
  mount(
    root,
    headSection(data.head, clusteringCard(report)),
    { id: "tree", label: "Tree", make: () => tree },
    sections,
  );
}

openListsOnPaper();
const root = document.getElementById("report");
const text = document.getElementById("data")?.textContent;
if (root !== null && text) {
  const data = JSON.parse(text) as ReportData | LabelReportData | { waiting: string };
  if ("waiting" in data)
    root.append(h("main", {}, h("h1", {}, "Coppice"), h("p", { class: "verdict wait", role: "status" }, data.waiting)));
  else if ("labels" in data) startLabels(root, data);
  else start(root, data);
  if (document.documentElement.hasAttribute("data-live")) watch("waiting" in data ? 0 : data.head.done);
}
