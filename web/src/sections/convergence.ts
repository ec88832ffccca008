// Did the chains agree: traces, ranks, R-hat and effective draws, and how often moves were accepted.
import { chart, Plot } from "../chart";
import { h, scroller, table } from "../dom";
import { brief, percent, type Report, type Trace } from "../data";
import { figure } from "../figure";
import { chainColor } from "../palette";
import { rhatText } from "./trust";

const mostPoints = 500; // of a chain in a drawing
const rankBins = 20;

export function convergenceSection(report: Report): HTMLElement {
  const { traces, moves, head } = report.data;
  const section = h(
    "section",
    { id: "convergence", "aria-labelledby": "convergence-title" },
    h("h2", { id: "convergence-title" }, "Did it converge"),
    h("p", {}, head.verdict),
  );
  if (traces.length > 0) {
    const shown = h("div", { class: "grid" });
    const chooser = h(
      "select",
      { id: "trace", onchange: () => draw(Number(chooser.value)) },
      ...traces.map((trace, i) => h("option", { value: i }, trace.name)),
    );
    const draw = (index: number) => {
      chooser.value = String(index);
      shown.replaceChildren(
        traceFigure(traces[index]),
        ...(head.chains > 1 && !traces[index].constant ? [rankFigure(traces[index])] : []),
      );
    };
    section.append(
      scroller(
        "Diagnostics of traces",
        table(
          ["trace", "mean", "sd", "5 %", "95 %", "R-hat", "bulk ESS", "tail ESS"],
          traces.map((trace, i) => [
            h("button", { type: "button", class: "link", onclick: () => draw(i) }, trace.name),
            brief(trace.mean),
            brief(trace.sd),
            brief(trace.q05),
            brief(trace.q95),
            rhatText(trace.rhat),
            trace.ess_bulk === null ? "–" : Math.floor(trace.ess_bulk).toLocaleString("en"),
            trace.ess_tail === null ? "–" : Math.floor(trace.ess_tail).toLocaleString("en"),
          ]),
          "R-hat above 1.01 (marked !) says that the chains disagree; ESS is the number of independent draws these are worth: at least 400 in total are needed.",
          [false, true, true, true, true, true, true, true],
        ),
      ),
      h("p", { class: "search" }, h("label", { for: "trace" }, "Trace "), chooser),
      shown,
    );
    draw(
      head.trusted
        ? 0
        : Math.max(
            0,
            traces.findIndex((trace) => trace.name === head.worst_trace),
          ),
    );
  }
  if (moves.length > 0)
    section.append(
      h("h3", {}, "Moves"),
      scroller(
        "Acceptance of moves",
        table(
          ["move", "proposed", "accepted", "rate"],
          moves.map((move) => [
            move.name,
            move.proposed.toLocaleString("en"),
            move.accepted.toLocaleString("en"),
            move.rate === null ? "–" : percent(move.rate),
          ]),
          "How often the sampler's proposals were accepted, all chains together.",
          [false, true, true, true],
        ),
      ),
    );
  return section;
}

function traceFigure(trace: Trace): HTMLElement {
  const points = trace.values.flatMap((chain, c) => {
    const step = Math.max(1, Math.ceil(chain.length / mostPoints));
    return chain.flatMap((value, i) => (i % step === 0 ? [{ chain: c + 1, draw: i * trace.step, value }] : []));
  });
  const sentence =
    `${trace.name} in each chain, draw by draw: chains that agree overlap. Mean ${brief(trace.mean)}, ` +
    `nine draws in ten between ${brief(trace.q05)} and ${brief(trace.q95)}` +
    `${trace.rhat === null ? "" : `; R-hat ${trace.rhat.toFixed(3)}`}.`;
  const drawing = chart({
    title: `Trace of ${trace.name}`,
    description: sentence,
    width: 520,
    height: 230,
    marginLeft: 58,
    x: { label: "draw" },
    y: { label: trace.name, nice: true },
    marks: [
      Plot.lineY(points, {
        x: "draw",
        y: "value",
        z: "chain",
        stroke: (point: { chain: number }) => chainColor(point.chain - 1),
        strokeWidth: 1,
        strokeOpacity: 0.8,
      }),
    ],
  });
  const made = figure({
    name: `trace-${trace.name}`,
    title: `Trace of ${trace.name}`,
    body: h("div", {}, drawing),
    drawings: () => [drawing],
    rows: function* () {
      yield ["chain", "draw", trace.name];
      for (let c = 0; c < trace.values.length; c++)
        for (let i = 0; i < trace.values[c].length; i++) yield [c + 1, i * trace.step, trace.values[c][i]];
    },
  });
  made.say(sentence);
  return made.element;
}

/** Shares of each chain's draws in twentieths of all draws' ranks; equal draws share their ranks evenly. */
function rankShares(trace: Trace): { chain: number; bin: number; share: number }[] {
  const order = trace.values.flatMap((chain, c) => chain.map((value) => ({ value, c })));
  order.sort((a, b) => a.value - b.value);
  const counts = trace.values.map(() => new Array<number>(rankBins).fill(0));
  const each = order.length / rankBins;
  for (let first = 0; first < order.length;) {
    let end = first + 1;
    while (end < order.length && order[end].value === order[first].value) end++;
    for (let bin = Math.floor(first / each); bin < rankBins && bin * each < end; bin++) {
      const part = (Math.min(end, (bin + 1) * each) - Math.max(first, bin * each)) / (end - first);
      for (let k = first; k < end; k++) counts[order[k].c][bin] += part;
    }
    first = end;
  }
  return counts.flatMap((bins, c) =>
    bins.map((count, bin) => ({ chain: c + 1, bin, share: count / trace.values[c].length })),
  );
}

function rankFigure(trace: Trace): HTMLElement {
  const shares = rankShares(trace);
  const chains = trace.values.length;
  const worst = shares.reduce((a, b) => (Math.abs(b.share - 1 / rankBins) > Math.abs(a.share - 1 / rankBins) ? b : a));
  const drawing = chart({
    title: `Ranks of ${trace.name}`,
    description: `Fraction of each chain's draws by rank among all draws.`,
    width: 520,
    height: Math.max(230, 46 * Math.min(chains, 8) + 50),
    marginLeft: 58,
    marginRight: 56,
    x: { label: "rank, lowest to highest", ticks: [] },
    y: { label: null, ticks: 2, percent: true, grid: true },
    fy: { label: null, tickFormat: (chain: number) => `chain ${chain}` },
    marks: [
      Plot.rectY(
        shares.filter(({ chain }) => chain <= 8),
        {
          x1: "bin",
          x2: (entry: { bin: number }) => entry.bin + 1,
          y: "share",
          fy: "chain",
          insetLeft: 0.5,
          insetRight: 0.5,
          fill: (entry: { chain: number }) => chainColor(entry.chain - 1),
        },
      ),
      Plot.ruleY([1 / rankBins], { stroke: "currentColor", strokeDasharray: "3,3" }),
    ],
  });
  const made = figure({
    name: `ranks-${trace.name}`,
    title: `Ranks of ${trace.name}`,
    body: h("div", {}, drawing),
    drawings: () => [drawing],
    rows: function* () {
      yield ["chain", "rank_bin", "share"];
      for (const { chain, bin, share } of shares) yield [chain, bin + 1, share];
    },
  });
  made.say(
    `If the chains agree, each has the same fraction (dashed, ${percent(1 / rankBins)}) of the draws of every rank. ` +
      `The furthest from it is chain ${worst.chain} with ${percent(worst.share)} in one twentieth.` +
      (chains > 8 ? ` The first 8 of ${chains} chains are drawn.` : ""),
  );
  return made.element;
}
