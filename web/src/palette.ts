// Colors mean one thing each, and all are safe for every kind of color vision: Okabe and Ito's for clusters, Paul Tol's
// light ones for levels of categories and his muted ones for labels that were known, purples for chains, cividis for
// amounts, and grays for certainty.
import { interpolateCividis } from "d3-scale-chromatic";

const clusters = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];
const levels = ["#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00"];
const labels = ["#332288", "#ddcc77", "#117733", "#cc6677", "#88ccee", "#882255", "#44aa99", "#999933", "#aa4499"];
const chains = ["#54278f", "#9e6bc4", "#c994c7", "#7a0177", "#df65b0", "#8c96c6", "#dd1c77", "#3f007d"];

function mixed(color: string, other: number, share: number): string {
  return `#${rgb(color)
    .map((v) =>
      Math.round(v + (other - v) * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** Of clusters: seven colors, then the same darker, then lighter; from then on they repeat, and only numbers differ. */
export function clusterColor(index: number): string {
  if (index < 0) return "transparent";
  const color = clusters[index % clusters.length];
  const round = Math.floor(index / clusters.length) % 3;
  return round === 0 ? color : round === 1 ? mixed(color, 0, 0.45) : mixed(color, 255, 0.5);
}

/** Of levels of category columns. */
export function levelColor(index: number): string {
  return index < 0 ? "transparent" : levels[index % levels.length];
}

/** Of labels that were known. */
export function labelColor(index: number): string {
  return index < 0 ? "transparent" : labels[index % labels.length];
}

export function chainColor(index: number): string {
  return chains[index % chains.length];
}

export type Rgb = [number, number, number];

export function rgb(color: string): Rgb {
  const hex = /^#(..)(..)(..)$/.exec(color);
  if (hex) return [1, 2, 3].map((i) => parseInt(hex[i], 16)) as Rgb;
  return (color.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number) as Rgb;
}

/** 256 steps of cividis, 0 to 1. */
export const amounts: Rgb[] = Array.from({ length: 256 }, (_, i) => rgb(interpolateCividis(i / 255)));

export function amountColor(share: number): string {
  return `rgb(${amounts[Math.max(0, Math.min(255, Math.round(share * 255)))].join(",")})`;
}

/** A color of the current theme. */
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** From unsure to sure, between two colors of the theme. */
export function sureColor(share: number): string {
  const from = rgb(themeColor("--unsure"));
  const to = rgb(themeColor("--sure"));
  return `rgb(${from.map((v, i) => Math.round(v + (to[i] - v) * share)).join(",")})`;
}

export function readableOn(color: string): string {
  const [r, g, b] = rgb(color).map((v) => {
    const c = v / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000000" : "#ffffff";
}
