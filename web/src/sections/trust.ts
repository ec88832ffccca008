// Behind the verdict: does the model fit, are there several answers, what do the chains disagree on, what is still safe
// to use and what to do.
import { chart, Plot } from "../chart";
import { h, scroller, table } from "../dom";
import { brief, percent, plural, type Trace } from "../data";
import { figure } from "../figure";

export interface FitCheck {
  what: "column" | "clusters";
  name: string;
  tail_probability: number;
  cells?: number;
  misplaced?: number;
  places?: number[]; // shares of the cells in tenths of the places, low to high
  pattern: string; // empty if it fits
}

export interface Modes {
  where: string;
  sentence: string;
  silhouette: number;
  modes: { name: string; weight: number; chain_weights: number[]; clusters: number; radius: number }[];
}

export interface TrustData {
  converged: boolean;
  diffuse: boolean;
  fit: { fits: boolean; sentence: string; rows: number; checks: FitCheck[] } | null;
  undecided_pairs: { where: string; share: number | null }[];
  modes: Modes[];
  disagreement: {
    sentence: string;
    members: "rows" | "columns";
    pairs: { members: [string, string]; chains: number[] }[];
    clusters: { cluster: number; size: number; chains: number[]; agrees: boolean }[];
  } | null;
  remedies: string[];
  safe: string[];
  partition_traces: (Omit<Trace, "step" | "values"> & { kind: "distance" | "pair"; where: string })[];
}

const mostChecks = 24;
const mostChains = 8;
const limit = 1.01;

/** With as many digits as it takes to see that a value is above the limit. */
export function rhatText(rhat: number | null): string {
  if (rhat === null) return "–";
  if (!Number.isFinite(rhat)) return "∞ !";
  let digits = 3;
  while (rhat > limit && Number(rhat.toFixed(digits)) <= limit && digits < 15) digits++;
  return `${rhat.toFixed(digits)}${rhat > limit ? " !" : ""}`;
}

export function probabilityText(probability: number): string {
  return probability < 0.0001 ? "< 0.0001" : String(Number(probability.toPrecision(2)));
}

export function trustSection(trust: TrustData | null): HTMLElement | null {
  if (trust === null || (trust.fit === null && trust.partition_traces.length === 0)) return null;
  return h(
    "section",
    { id: "trust", "aria-labelledby": "trust-title" },
    h("h2", { id: "trust-title" }, "What the verdict rests on"),
    ...modesPart(trust.modes),
    ...disagreementPart(trust),
    trust.fit === null ? null : fitFigure(trust.fit),
    partitionTable(trust),
  );
}

function chainColumns(chains: number): string[] {
  return Array.from({ length: Math.min(chains, mostChains) }, (_, c) => `chain ${c + 1}`);
}

function shares(values: number[]): string[] {
  return values.slice(0, mostChains).map(percent);
}

function modesPart(all: Modes[]): (HTMLElement | null)[] {
  return all.flatMap((found) => [
    h("h3", {}, found.where === "" ? "Several answers" : `Several answers: ${found.where}`),
    h("p", {}, found.sentence),
    scroller(
      "Weights of the answers",
      table(
        ["answer", "weight", "clusters", "mean distance", ...chainColumns(found.modes[0].chain_weights.length)],
        found.modes.map((mode) => [
          mode.name,
          percent(mode.weight),
          String(mode.clusters),
          brief(mode.radius),
          ...shares(mode.chain_weights),
        ]),
        "How many of the draws are nearest to each answer, in all and in each chain, and how far they are from it on " +
          "average (variation of information, nats).",
        [false, ...new Array<boolean>(3 + found.modes[0].chain_weights.length).fill(true)],
      ),
    ),
  ]);
}

function disagreementPart(trust: TrustData): (HTMLElement | null)[] {
  const { disagreement, remedies, safe } = trust;
  const parts: (HTMLElement | null)[] = [];
  if (disagreement !== null) {
    parts.push(h("h3", {}, "What the chains disagree on"), h("p", {}, disagreement.sentence));
    if (disagreement.pairs.length > 0)
      parts.push(
        scroller(
          "Pairs by chain",
          table(
            [disagreement.members, ...chainColumns(disagreement.pairs[0].chains.length)],
            disagreement.pairs.map((pair) => [`${pair.members[0]} and ${pair.members[1]}`, ...shares(pair.chains)]),
            `How often the two ${disagreement.members} are together in each chain: the pairs that differ most.`,
            [false, ...new Array<boolean>(mostChains).fill(true)],
          ),
        ),
      );
    parts.push(h("p", {}, h("strong", {}, "Safe to use: "), `${safe.join("; ")}.`));
  }
  if (remedies.length > 0)
    parts.push(
      h("p", {}, h("strong", {}, "What to do"), ", the most promising first:"),
      h("ol", {}, ...remedies.map((remedy) => h("li", {}, remedy))),
    );
  return parts;
}

function fitFigure(fit: NonNullable<TrustData["fit"]>): HTMLElement {
  const shown = fit.checks.filter((check) => check.places !== undefined).slice(0, mostChecks);
  const drawings: SVGSVGElement[] = [];
  const panels = shown.map((check) => {
    const bars = (check.places ?? []).map((share, bin) => ({ bin, share }));
    const drawing = chart({
      title: `Fit of ${check.name}`,
      description: `Places of the cells of ${check.name} among draws from the model, low to high.`,
      width: 180,
      height: 84,
      marginLeft: 4,
      marginRight: 4,
      marginTop: 4,
      marginBottom: 4,
      x: { axis: null },
      y: { axis: null, domain: [0, Math.max(0.2, ...bars.map(({ share }) => share))] },
      marks: [
        Plot.rectY(bars, {
          x1: "bin",
          x2: (bar: { bin: number }) => bar.bin + 1,
          y: "share",
          insetLeft: 0.5,
          insetRight: 0.5,
          fill: "currentColor",
          fillOpacity: check.pattern === "" ? 0.35 : 0.85,
        }),
        Plot.ruleY([0.1], { stroke: "currentColor", strokeDasharray: "3,3" }),
      ],
    });
    drawings.push(drawing);
    return h(
      "div",
      { class: "fit-panel" },
      h("strong", {}, h("bdi", {}, check.name)),
      drawing,
      h("span", {}, `p ${probabilityText(check.tail_probability)}${check.pattern === "" ? "" : " !"}`),
      check.pattern === "" ? null : h("span", {}, check.pattern),
    );
  });
  const count = fit.checks.find((check) => check.what === "clusters");
  const made = figure({
    name: "fit",
    title: fit.fits ? "Does the model fit: yes" : "Does the model fit: not everywhere",
    body: h("div", {}, h("p", {}, fit.sentence), h("div", { class: "fit-panels" }, ...panels)),
    drawings: () => drawings,
    rows: function* () {
      yield ["name", "tail_probability", "misplaced", ...Array.from({ length: 10 }, (_, i) => `tenth_${i + 1}`)];
      for (const check of fit.checks)
        yield [
          check.name,
          check.tail_probability,
          check.misplaced,
          ...(check.places ?? new Array<null>(10).fill(null)),
        ];
    },
  });
  made.say(
    `Where each cell stands among values drawn for it from the model, from low to high (${plural(fit.rows, "row")}). Bars ` +
      "follow the dashed line if the model is true, and p is then any number between 0 and 1 equally often. High ends: " +
      "tails are heavier than the model's; a high middle: the model is too wide; a slope: it is off to one side." +
      (count ? ` The number of clusters has p ${probabilityText(count.tail_probability)}.` : "") +
      (fit.checks.length > mostChecks ? " The columns that fit worst are drawn; the CSV has all." : ""),
  );
  return made.element;
}

function partitionTable(trust: TrustData): HTMLElement | null {
  if (trust.partition_traces.length === 0) return null;
  const undecided = trust.undecided_pairs
    .filter(({ share }) => share !== null)
    .map(({ where, share }) => `${percent(share ?? 0)}${where === "" ? "" : ` (${where})`}`)
    .join(", ");
  return h(
    "div",
    {},
    h("h3", {}, "Who is with whom, chain by chain"),
    undecided === "" ? null : h("p", {}, `Of the pairs that may belong together, undecided: ${undecided}.`),
    scroller(
      "Diagnostics of who is with whom",
      table(
        ["trace", "mean", "sd", "R-hat", "bulk ESS", "tail ESS"],
        trust.partition_traces.map((trace) => [
          trace.name,
          brief(trace.mean),
          brief(trace.sd),
          rhatText(trace.rhat),
          trace.ess_bulk === null ? "–" : Math.floor(trace.ess_bulk).toLocaleString("en"),
          trace.ess_tail === null ? "–" : Math.floor(trace.ess_tail).toLocaleString("en"),
        ]),
        "Distances (variation of information, nats) of the draws from a few of them, and whether two members are " +
          "together: chains may agree on how many clusters there are and not on who is in them.",
        [false, true, true, true, true, true],
      ),
    ),
  );
}
