// The chosen cluster: what makes it different, in words and as a figure, its members and its typical rows.
import { chart, Plot } from "../chart";
import { h } from "../dom";
import { brief, percent, plural, type Report, type Trait } from "../data";
import { csv, save } from "../download";
import { figure } from "../figure";
import { shortened } from "../fit";
import { clusterColor } from "../palette";
import { rowChips } from "../rows";
import type { State } from "../state";

export function clusterSection(report: Report, state: State, colors: Int32Array): HTMLElement {
  const body = h("div", { class: "cluster" });
  const section = h("section", { id: "cluster", "aria-labelledby": "cluster-title" }, body);
  const draw = () => body.replaceChildren(...content(report, state, colors));
  state.on("node", draw);
  state.on("theme", draw);
  state.on("names", draw);
  draw();
  return section;
}

function facts(report: Report, id: number): string {
  const node = report.nodes[id];
  const parts = [plural(node.size, "row")];
  if (node.parent !== null) {
    const share = node.size / report.nodes[node.parent].size;
    parts[0] += ` (${percent(share)} of ${node.parent === 0 ? "all" : "its parent"})`;
  }
  if (report.data.tree.hierarchy && node.level > 0)
    parts.push(node.level === node.last_level ? `level ${node.level}` : `levels ${node.level} to ${node.last_level}`);
  if (node.addresses.length > 1)
    parts.push(
      `also ${node.addresses
        .slice(1)
        .map(([level, cluster]) => `${level}.${cluster}`)
        .join(", ")}`,
    );
  if (node.parent === null) return parts.join(" · ");
  if (report.data.tree.hierarchy) {
    parts.push(`exactly this cluster in ${percent(node.exact ?? 0)} ${report.draws}`);
    parts.push(`mean overlap with the most similar cluster ${percent(node.sure)}`);
  } else if (node.level > 0) {
    parts.push(`two of its rows are together in ${percent(node.sure)} ${report.draws}`);
  } else {
    parts.push(`rows of its parts are together in ${percent(node.sure)} ${report.draws}`);
  }
  return parts.join(" · ");
}

function words(traits: Trait[], title: string): (Node | null)[] {
  if (traits.length === 0) return [];
  return [
    h("h4", {}, title),
    h("ul", { class: "traits" }, ...traits.slice(0, 5).map((trait) => h("li", {}, trait.words))),
  ];
}

function siblingNames(report: Report, id: number): string {
  const { children } = report.nodes[report.nodes[id].parent as number];
  const names = children.filter((child) => child !== id).map((child) => report.shortName(child));
  return names.slice(0, 6).join(", ") + (names.length > 6 ? ", …" : "");
}

/** A field for the name, and a file with all names for the command line. */
function renaming(report: Report, state: State, id: number): HTMLElement {
  const field = h("input", {
    type: "text",
    id: "cluster-name",
    maxlength: 100,
    autocomplete: "off",
    placeholder: report.nodes[id].described_as,
    value: report.isNamed(id) ? report.plainName(id) : "",
  });
  const change = () => {
    report.rename(id, field.value);
    state.rename();
  };
  field.addEventListener("change", change);
  return h(
    "div",
    { class: "renaming" },
    h("label", { for: "cluster-name" }, "Name "),
    field,
    h(
      "button",
      {
        type: "button",
        class: "small",
        title:
          "Names on this page are gone when it is closed; this file keeps them: coppice rename RUN --from names.csv",
        onclick: () => save("names.csv", "text/csv", csv(namesFile(report))),
      },
      "Save names",
    ),
  );
}

/** Every cluster that has a name of its own. */
function* namesFile(report: Report): Iterable<(string | number)[]> {
  yield ["level", "cluster", "name"];
  for (const [id, node] of report.nodes.entries())
    if (node.addresses.length > 0 && node.parent !== null && (report.isNamed(id) || report.wasNamed(id)))
      yield [...node.addresses[0], report.isNamed(id) ? report.plainName(id) : ""];
}

function content(report: Report, state: State, colors: Int32Array): Node[] {
  const id = state.node;
  const node = report.nodes[id];
  const jump = (to: number, label: string) =>
    h("button", { type: "button", class: "link", onclick: () => state.chooseNode(to) }, label);
  const parts: (Node | null)[] = [
    h(
      "p",
      { class: "path" },
      ...report
        .path(id)
        .flatMap((step, i, path) => [
          i > 0 ? " › " : "",
          i === path.length - 1
            ? h("span", { "aria-current": "true" }, report.nodeName(step))
            : jump(step, report.nodeName(step)),
        ]),
    ),
    h("h3", { id: "cluster-title" }, report.nodeName(id)),
    h("p", { class: "facts", role: "status" }, facts(report, id)),
    report.isNamed(id) ? h("p", { class: "described" }, node.described_as) : null,
    node.number === "" || node.parent === null ? null : renaming(report, state, id),
  ];
  if (node.parent !== null) {
    const siblings = report.nodes[node.parent].children.length - 1;
    // Children of the root have all other rows as their siblings.
    const against_all = node.against_all.length > 0 || node.parent !== 0 ? node.against_all : node.against_siblings;
    parts.push(
      ...words(against_all, "Against all other rows"),
      ...(node.parent !== 0
        ? words(
            node.against_siblings,
            `Against its ${siblings === 1 ? "sibling" : `${siblings} siblings`}: ${siblingNames(report, id)}`,
          )
        : []),
    );
    const traits = node.against_all.length > 0 ? node.against_all : node.against_siblings;
    if (traits.length > 0)
      parts.push(profile(report, id, traits, colors[id] < 0 ? "var(--sure)" : clusterColor(colors[id])));
  }
  if (node.children.length > 0)
    parts.push(
      h("h4", {}, "Its parts"),
      h(
        "ul",
        { class: "parts" },
        ...node.children
          .slice(0, 40)
          .map((child) =>
            h("li", {}, jump(child, report.nodeName(child)), ` (${report.nodes[child].size.toLocaleString("en")})`),
          ),
      ),
    );
  if (node.exemplars.length > 0) parts.push(h("h4", {}, "Typical rows"), rowChips(report, state, node.exemplars));
  if (node.outliers.length > 0) parts.push(h("h4", {}, "Least typical rows"), rowChips(report, state, node.outliers));
  const members = Array.from({ length: node.end - node.first }, (_, i) => node.first + i);
  parts.push(
    h(
      "h4",
      {},
      members.length < node.size
        ? `Members (${members.length.toLocaleString("en")} of ${node.size.toLocaleString("en")})`
        : "Members",
    ),
    rowChips(report, state, members, 24),
  );
  return parts.filter((part): part is Node => part !== null);
}

/** Each trait on the scale of its column: the cluster and the others. */
function profile(report: Report, id: number, traits: Trait[], color: string): HTMLElement {
  const entries = traits.slice(0, 8).map((trait) => {
    const column = report.data.columns.findIndex((candidate) => candidate.name === trait.column);
    const [low, high] = trait.kind === "binary" || trait.kind === "category" ? [0, 1] : range(report, column, trait);
    const place = (value: number) => (high > low ? (value - low) / (high - low) : 0.5);
    const label = trait.level === "" || trait.kind !== "category" ? trait.column : `${trait.column} = ${trait.level}`;
    return { label, inside: place(trait.inside), outside: place(trait.outside), trait };
  });
  const drawing = chart({
    title: `Profile of ${report.nodeName(id)}`,
    description: entries.map(({ trait }) => trait.words).join("; "),
    height: 42 + entries.length * 22,
    width: 340,
    marginLeft: 130,
    marginTop: 8,
    x: {
      domain: [0, 1],
      ticks: [0, 0.5, 1],
      tickFormat: (value: number) => ["low", "", "high"][Math.round(value * 2)],
      label: null,
      clamp: true,
    },
    y: {
      domain: entries.map((entry) => entry.label),
      label: null,
      tickFormat: (text: string) => shortened(text, 122, 10),
    },
    marks: [
      Plot.ruleY(entries, { y: "label", x1: "inside", x2: "outside", stroke: "var(--quiet)", strokeWidth: 2 }),
      Plot.dot(entries, {
        y: "label",
        x: "outside",
        r: 4.5,
        stroke: "var(--quiet)",
        fill: "var(--ground)",
        strokeWidth: 2,
      }),
      Plot.dot(entries, { y: "label", x: "inside", r: 5, fill: color, stroke: "var(--text)" }),
    ],
  });
  const made = figure({
    name: "profile",
    title: "Profile",
    body: h("div", {}, drawing),
    drawings: () => [drawing],
    rows: function* () {
      yield ["column", "level", "inside", "outside", "inside_sd", "outside_sd", "divergence"];
      for (const trait of traits)
        yield [
          trait.column,
          trait.level,
          trait.inside,
          trait.outside,
          trait.inside_sd,
          trait.outside_sd,
          trait.divergence,
        ];
    },
  });
  made.say(
    `Filled: this cluster, hollow: the others; shares from 0 to 1, numbers between the extremes of their column. ` +
      `Strongest: ${traits[0].words} (${brief(traits[0].divergence)} nats apart).`,
  );
  return made.element;
}

function range(report: Report, column: number, trait: Trait): [number, number] {
  let low = Math.min(trait.inside, trait.outside);
  let high = Math.max(trait.inside, trait.outside);
  if (column < 0) return [low, high];
  for (let row = 0; row < report.rows; row++) {
    const value = report.cells[row * report.width + column];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
