// Which labels occur together.
import { chart, Plot } from "../chart";
import { percent } from "../data";
import { h, scroller } from "../dom";
import { figure } from "../figure";
import { amountColor } from "../palette";
import type { State } from "../state";
import type { LabelReport } from "./data";

const most = 40;

export function cooccurrenceSection(report: LabelReport, state: State): HTMLElement | null {
  const { labels, counts } = report.data.labels.cooccurrence;
  if (labels.length < 2) return null;
  const side = labels.length;
  const shown = Math.min(side, most);
  const share = (a: number, b: number) => counts[a * side + b] / Math.max(1, counts[a * side + a]);
  const name = (a: number) => report.tick(labels[a], 18);
  const cells = Array.from({ length: shown * shown }, (_, i) => {
    const a = Math.floor(i / shown);
    const b = i % shown;
    return { a: name(a), b: name(b), share: share(a, b) };
  });
  let pair: [number, number] = [0, 1];
  for (let a = 0; a < shown; a++)
    for (let b = 0; b < shown; b++)
      if (a !== b && counts[a * side + a] >= 5 && share(a, b) > share(...pair)) pair = [a, b];
  const sentence =
    `Of the rows with the label of a line, the fraction that also have the label of a column (brighter: more). ` +
    `Of the rows with “${report.names[labels[pair[0]]]}”, ${percent(share(...pair))} have “${report.names[labels[pair[1]]]}” too.` +
    (shown < report.names.length ? ` The ${shown} most frequent of ${report.names.length} labels.` : "");
  const body = h("div", {});
  const cell = Math.max(16, Math.min(44, 520 / shown));
  const draw = () =>
    body.replaceChildren(
      scroller(
        "Which labels occur together",
        chart({
          title: "Which labels occur together",
          description: sentence,
          width: 180 + cell * shown,
          height: 150 + cell * shown,
          marginLeft: 130,
          marginTop: 110,
          marginRight: 50,
          x: { axis: "top", label: null, tickRotate: -60, domain: Array.from({ length: shown }, (_, a) => name(a)) },
          y: { label: null, domain: Array.from({ length: shown }, (_, a) => name(a)) },
          marks: [
            Plot.cell(cells, {
              x: "b",
              y: "a",
              fill: (entry: { share: number }) => amountColor(entry.share),
              inset: 0.5,
            }),
          ],
        }),
      ),
    );
  const made = figure({
    name: "cooccurrence",
    title: "Which labels occur together",
    body,
    drawings: () => [body.querySelector("svg") as SVGSVGElement],
    rows: function* () {
      yield ["label", "rows_with_it", ...labels.map((c) => report.names[c])];
      for (let a = 0; a < side; a++)
        yield [report.names[labels[a]], counts[a * side + a], ...labels.map((_, b) => share(a, b))];
    },
  });
  state.on("theme", draw);
  draw();
  made.say(sentence);
  return h(
    "section",
    { id: "cooccurrence", "aria-labelledby": "cooccurrence-title" },
    h("h2", { id: "cooccurrence-title" }, "Label co-occurrence"),
    made.element,
  );
}
