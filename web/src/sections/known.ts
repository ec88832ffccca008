// How well the clusters agree with labels that were known before.
import { h, scroller, styled, table } from "../dom";
import type { Known, Report } from "../data";
import { shortened } from "../fit";
import type { State } from "../state";

const mostClasses = 30;
const mostClusters = 200;
const nameWidth = 230;

/** Clusters against the classes of one known label: counts, darker where more of the cluster is. */
function crossTable(report: Report, known: Known, index: number): HTMLElement {
  const { classes, counts, unknown } = known.tables[index];
  const { level, node_of } = report.data.levels[index];
  const sizes = classes.map((_, c) => counts.reduce((sum, cluster) => sum + cluster[c], 0));
  const shown = classes
    .map((_, c) => c)
    .sort((a, b) => sizes[b] - sizes[a])
    .slice(0, mostClasses);
  const hasUnknown = unknown.some((count) => count > 0);
  const clusters = counts
    .map((_, g) => g)
    .sort((a, b) => total(counts[b]) - total(counts[a]) || a - b)
    .slice(0, mostClusters);
  const cell = (count: number, all: number) => {
    const share = count / Math.max(1, all);
    const made = h("td", { class: "number count" }, count === 0 ? "·" : count.toLocaleString("en"));
    if (count > 0)
      styled(made, { background: `color-mix(in srgb, var(--sure) ${Math.round(45 * share)}%, transparent)` });
    return made;
  };
  const head = [
    "cluster",
    ...shown.map((c) => classes[c]),
    ...(shown.length < classes.length ? [`${classes.length - shown.length} more`] : []),
    ...(hasUnknown ? ["unknown"] : []),
  ];
  const several = report.data.levels.length > 1;
  return scroller(
    `Clusters against ${known.name}`,
    h(
      "table",
      { class: "cross" },
      h(
        "caption",
        {},
        `Rows of each cluster${several ? ` of level ${level}` : ""} by ${known.name}; the darker a cell, the larger its share of the cluster.`,
      ),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...head.map((text, i) => h("th", { scope: "col", class: i > 0 ? "number" : null }, h("bdi", {}, text))),
        ),
      ),
      h(
        "tbody",
        {},
        ...clusters.map((g) => {
          const all = total(counts[g]) + unknown[g];
          const listed = shown.map((c) => counts[g][c]);
          return h(
            "tr",
            {},
            h(
              "th",
              { scope: "row", title: report.nodeName(node_of[g]) },
              h("bdi", {}, shortened(report.nodeName(node_of[g]), nameWidth, 13)),
            ),
            ...listed.map((count) => cell(count, all)),
            shown.length < classes.length ? cell(total(counts[g]) - total(listed), all) : null,
            hasUnknown ? cell(unknown[g], all) : null,
          );
        }),
      ),
    ),
  );
}

function total(counts: number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The cross-table of one known label and one level, with choosers where there are several. */
function crossTables(report: Report, state: State): HTMLElement {
  const { levels } = report.data;
  const usable = report.data.known.filter((known) => known.tables.length > 0);
  const body = h("div", {});
  const which = h(
    "select",
    { "aria-label": "Known label" },
    ...usable.map((known, k) => h("option", { value: k }, known.name)),
  );
  const draw = () => body.replaceChildren(crossTable(report, usable[Number(which.value)], state.level - 1));
  if (usable.length === 0) return body;
  which.addEventListener("change", draw);
  state.on("level", draw);
  state.on("names", draw);
  draw();
  const choosers = [
    ...(usable.length > 1 ? [which] : []),
    ...(levels.length > 1 ? [levelChooser(state, levels.length)] : []),
  ];
  return h("div", {}, choosers.length > 0 ? h("p", { class: "search" }, ...choosers) : null, body);
}

function levelChooser(state: State, levels: number): HTMLElement {
  const select = h(
    "select",
    { "aria-label": "Level of the cross-table" },
    ...Array.from({ length: levels }, (_, l) => h("option", { value: l + 1 }, `level ${l + 1}`)),
  );
  select.addEventListener("change", () => state.chooseLevel(Number(select.value)));
  state.on("level", () => (select.value = String(state.level)));
  return select;
}

export function knownSection(report: Report, state: State): HTMLElement | null {
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
    crossTables(report, state),
  );
}
