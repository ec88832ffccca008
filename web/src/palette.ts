// Colors that are safe for every kind of color vision: Okabe and Ito's for clusters and levels of categories, cividis
// for amounts.
import { interpolateCividis } from "d3-scale-chromatic";

export const kinds = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8c8c"];

export function kindColor(index: number): string {
  return index < 0 ? "transparent" : kinds[index % kinds.length];
}

// Paul Tol's muted colors: labels that were known, so that they are not mistaken for clusters.
const labels = ["#332288", "#ddcc77", "#117733", "#cc6677", "#88ccee", "#882255", "#44aa99", "#999933", "#aa4499"];

export function labelColor(index: number): string {
  return index < 0 ? "transparent" : labels[index % labels.length];
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
