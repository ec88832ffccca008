// The page. Sections are independent: each takes the report and the state and gives back an element. The verdict, the
// tree and the chosen cluster come at once, the rest as soon as these are on the screen.
import "./style.css";
import { Report, type ReportData } from "./data";
import { h, later } from "./dom";
import { watch } from "./live";
import { branchColours, State } from "./state";
import { clusterSection } from "./sections/cluster";
import { coclusteringSection } from "./sections/coclustering";
import { convergenceSection } from "./sections/convergence";
import { headSection } from "./sections/head";
import { knownSection } from "./sections/known";
import { levelsSection } from "./sections/levels";
import { planeSection } from "./sections/plane";
import { reproduceSection } from "./sections/reproduce";
import { rowsSection } from "./sections/rows";
import { treeSection } from "./sections/tree";
import { viewsSection } from "./sections/views";

interface Section {
  id: string;
  label: string;
  make: () => HTMLElement | null;
}

function start(root: HTMLElement, data: ReportData): void {
  const report = new Report(data);
  const state = new State();
  const colours = branchColours(report.nodes);
  const sections: Section[] = [
    { id: "plane", label: "Plane", make: () => planeSection(report, state, colours) },
    { id: "views", label: "Views", make: () => viewsSection(report, state) },
    { id: "rows", label: "Rows", make: () => rowsSection(report, state, colours) },
    { id: "coclustering", label: "How sure", make: () => coclusteringSection(report, state) },
    { id: "levels", label: "How many", make: () => levelsSection(report) },
    { id: "known", label: "Known labels", make: () => (data.known.length > 0 ? knownSection(report) : null) },
    { id: "convergence", label: "Convergence", make: () => (data.head.greedy ? null : convergenceSection(report)) },
    { id: "reproduce", label: "Reproduce", make: () => reproduceSection(report) },
  ];
  const links = h("ul", {});
  const link = (id: string, label: string) => links.append(h("li", {}, h("a", { href: `#${id}` }, label)));
  link("verdict", "Verdict");
  link("tree", "Tree");
  const main = h("main", {});
  const tree = h("section", { id: "tree", "aria-labelledby": "tree-title" },
    h("h2", { id: "tree-title" }, data.tree.hierarchy ? "The hierarchy" : "The clusters"));
  root.append(
    h("a", { class: "skip", href: "#tree" }, "Skip to the tree"),
    h("nav", { class: "top", "aria-label": "Sections" }, links),
    main,
  );
  main.append(headSection(report), tree);
  const split = h("div", { class: "split" }, treeSection(report, state, colours), clusterSection(report, state));
  tree.append(split);
  const rest = sections.slice();
  const next = () => {
    const section = rest.shift();
    if (!section) {
      main.append(h("footer", {}, "Made by Coppice. This page is one file and loads nothing."));
      document.documentElement.dataset.ready = "";
      return;
    }
    const element = section.make();
    if (element !== null) {
      main.append(element);
      link(section.id, section.label);
    }
    later(next);
  };
  requestAnimationFrame(() =>
    setTimeout(() => {
      performance.mark("first-picture"); // the frame with the tree is out
      next();
    }),
  );
}

const root = document.getElementById("report");
const text = document.getElementById("data")?.textContent;
if (root !== null && text) {
  const data = JSON.parse(text) as ReportData | { waiting: string };
  if ("waiting" in data) root.append(h("main", {}, h("h1", {}, "Coppice"), h("p", { class: "verdict wait", role: "status" }, data.waiting)));
  else start(root, data);
  if (document.documentElement.hasAttribute("data-live")) watch("waiting" in data ? 0 : data.head.draws);
}
