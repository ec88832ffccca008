// Where a row belongs and with what probability, and the most ambiguous rows.
import { h, scroller, styled, table } from "../dom";
import { briefIn, percent, type Report } from "../data";
import { figure } from "../figure";
import { clusterColor, readableOn, themeColor } from "../palette";
import { rowChips, showRow } from "../rows";
import { searchBox } from "../search";
import type { State } from "../state";
import { svg } from "../dom";

interface Part {
  name: string;
  node: number | null; // null: on its own
  share: number;
}

function parts(report: Report, level: number, row: number): Part[] {
  const { membership, node_of } = report.data.levels[level];
  const list: Part[] = [];
  for (let k = 0; k < membership[row].length; k += 2) {
    const group = membership[row][k];
    const node = group < 0 ? null : node_of[group];
    list.push({ name: node === null ? "on its own" : report.nodeName(node), node, share: membership[row][k + 1] });
  }
  return list.sort((a, b) => b.share - a.share);
}

export function rowsSection(report: Report, state: State, colors: Int32Array): HTMLElement {
  const card = h("div", { id: "row-card", class: "row-card" });
  const only = h("input", { type: "checkbox", id: "only-chosen" });
  const ambiguous = h("div", {});

  function drawCard(): void {
    if (state.row === null) {
      card.replaceChildren(h("p", { class: "facts" }, "Search for a row, or choose one anywhere on this page."));
      return;
    }
    card.replaceChildren(rowFigure(report, state, state.row, colors));
  }

  function drawDoubt(): void {
    const entries = report.data.levels.flatMap((level) =>
      level.ambiguous
        .filter((entry) => report.contains(state.node, entry.row))
        .map((entry) => ({ ...entry, level: level.level, nodeOf: level.node_of })),
    );
    entries.sort((a, b) => b.entropy - a.entropy);
    const several = report.data.levels.length > 1;
    const where = state.node === 0 ? "" : ` in “${report.nodeName(state.node)}”`;
    ambiguous.replaceChildren(
      h("h3", {}, `Most ambiguous rows${where}`),
      entries.length === 0
        ? h("p", { class: "facts" }, `No row${where} is among the most ambiguous ones.`)
        : scroller(
            "Most ambiguous rows",
            table(
              ["row", ...(several ? ["level"] : []), "reported in", "share", "or in", "share"],
              entries
                .slice(0, 15)
                .map((entry) => [
                  h(
                    "button",
                    { type: "button", class: "link", onclick: () => showRow(state, entry.row) },
                    h("bdi", {}, report.rowName(entry.row)),
                  ),
                  ...(several ? [String(entry.level)] : []),
                  report.nodeName(entry.nodeOf[entry.cluster]),
                  percent(entry.probability),
                  entry.rival < 0 ? "on its own" : report.nodeName(entry.nodeOf[entry.rival]),
                  percent(entry.rival_probability),
                ]),
              "Rows whose co-membership varies most from draw to draw, with the probability of the reported cluster and of the next best.",
              several ? [false, true, false, true, false, true] : [false, false, true, false, true],
            ),
          ),
    );
  }

  state.on("row", drawCard);
  state.on("node", drawDoubt);
  state.on("names", drawCard);
  state.on("names", drawDoubt);
  drawCard();
  drawDoubt();
  return h(
    "section",
    { id: "rows", "aria-labelledby": "rows-title" },
    h("h2", { id: "rows-title" }, "Rows"),
    ...searchBox(report, state, (row) => !only.checked || report.contains(state.node, row), {
      element: h("label", { for: "only-chosen", class: "check" }, only, " only in the chosen cluster"),
      onChange: (search) => {
        only.addEventListener("change", search);
        state.on("node", () => only.checked && search());
      },
    }),
    card,
    ambiguous,
  );
}

function rowFigure(report: Report, state: State, row: number, colors: Int32Array): HTMLElement {
  const leaf = report.leafOfRow[row];
  const path = report.path(leaf);
  const name = report.rowName(row);
  const levels = report.data.levels.map((level, i) => ({ level: level.level, parts: parts(report, i, row) }));
  const rowHeight = 30;
  const width = 640;
  const left = levels.length > 1 ? 60 : 4;
  const drawing = svg("svg", {
    class: "bars",
    role: "img",
    viewBox: `0 0 ${width} ${levels.length * rowHeight}`,
    "aria-label":
      `Membership of ${name}: ` +
      levels
        .map(
          (entry) =>
            `level ${entry.level}: ` + entry.parts.map((part) => `${part.name} ${percent(part.share)}`).join(", "),
        )
        .join("; "),
  });
  levels.forEach((entry, i) => {
    const y = i * rowHeight + 4;
    if (levels.length > 1) drawing.append(svg("text", { x: 0, y: y + 15, class: "axis" }, `level ${entry.level}`));
    let x = left;
    const total = Math.max(
      1e-9,
      entry.parts.reduce((sum, part) => sum + part.share, 0),
    );
    entry.parts.forEach((part, k) => {
      const wide = (part.share / total) * (width - left);
      const index = part.node === null ? -1 : colors[part.node];
      const color = index < 0 ? themeColor("--unsure") : clusterColor(index);
      drawing.append(
        svg(
          "rect",
          {
            x,
            y,
            width: Math.max(0.5, wide - 1),
            height: 22,
            fill: color,
            "fill-opacity": k > 0 && index === colors[leaf] ? 0.55 : 1,
          },
          svg("title", {}, `${part.name}: ${percent(part.share)}`),
        ),
      );
      const most = Math.floor((wide - 10) / 6.4);
      if (most >= 5) {
        const text = `${part.name} ${percent(part.share)}`;
        drawing.append(
          styled(
            svg(
              "text",
              { x: x + 5, y: y + 15, class: "in-bar" },
              text.length <= most ? text : `${[...text].slice(0, most - 1).join("")}…`,
            ),
            { fill: readableOn(color) },
          ),
        );
      }
      x += wide;
    });
  });
  const values =
    report.nodes[leaf].against_all.length > 0 ? report.nodes[leaf].against_all : report.nodes[leaf].against_siblings;
  const made = figure({
    name: "row",
    title: name,
    body: h(
      "div",
      {},
      h(
        "p",
        { class: "path" },
        ...path.flatMap((node, i) => [
          i > 0 ? " › " : "",
          h("button", { type: "button", class: "link", onclick: () => state.chooseNode(node) }, report.nodeName(node)),
        ]),
      ),
      styled(drawing, { width: "100%", "max-width": `${width}px` }),
      nearest(report, state, row),
      values.length === 0 ? null : valuesTable(report, row, values),
    ),
    drawings: () => [drawing],
    rows: function* () {
      yield ["row", "level", "cluster", "share"];
      for (const entry of levels) for (const part of entry.parts) yield [name, entry.level, part.name, part.share];
    },
  });
  const finest = levels[levels.length - 1].parts;
  made.say(
    `Each bar is a level: the clusters that “${name}” is grouped with over ${report.data.head.greedy ? "the partitions that cutting the tree can give" : "the draws"}. ` +
      (finest.length === 0
        ? ""
        : `At the finest level the probability of “${finest[0].name}” is ${percent(finest[0].share)}` +
          (finest.length > 1 ? `, that of “${finest[1].name}” ${percent(finest[1].share)}.` : ".")),
  );
  return made.element;
}

/** Rows that share its cluster most often at the finest level; only where the matrix has a cell for each pair. */
function nearest(report: Report, state: State, row: number): HTMLElement | null {
  const level = report.data.levels[report.data.levels.length - 1];
  const { bins } = level.coclustering;
  if (bins !== report.rows) return null;
  const shares = report.coclustering(level.level).subarray(row * bins, (row + 1) * bins);
  const others = Array.from({ length: bins }, (_, i) => i).filter((i) => i !== row && shares[i] > 0);
  others.sort((a, b) => shares[b] - shares[a]);
  if (others.length === 0) return null;
  return h(
    "div",
    {},
    h("h4", {}, "Most often in the same cluster"),
    rowChips(report, state, others.slice(0, 6), 6, (other) => ` ${percent(shares[other] / 65535)}`),
  );
}

function valuesTable(report: Report, row: number, traits: Report["nodes"][number]["against_all"]): HTMLElement {
  const lines = traits.slice(0, 6).flatMap((trait) => {
    const column = report.data.columns.findIndex((candidate) => candidate.name === trait.column);
    if (column < 0) return [];
    const shown = (value: number) =>
      trait.kind === "binary"
        ? percent(value)
        : trait.kind === "category"
          ? `${trait.level}: ${percent(value)}`
          : briefIn(report.data.columns[column], value);
    return [[trait.column, report.cellText(row, column) || "missing", shown(trait.inside), shown(trait.outside)]];
  });
  return scroller(
    "Its values",
    table(["column", "this row", "its cluster", "the others"], lines, "Its values where its cluster differs most", [
      false,
      true,
      true,
      true,
    ]),
  );
}
