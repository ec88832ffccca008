// Observable Plot with the page's manners: its style sheet is part of ours (the page's policy allows no other), text
// alternatives are set, numbers are not abbreviated behind the reader's back.
import * as Plot from "@observablehq/plot";

export { Plot };

export type ChartOptions = Plot.PlotOptions & { title: string; description: string };

export function chart({ title, description, ...options }: ChartOptions): SVGSVGElement {
  const drawn = Plot.plot({
    ...options,
    className: "chart",
    ariaLabel: title,
    ariaDescription: description,
    figure: false,
  } as Plot.PlotOptions);
  for (const style of drawn.querySelectorAll("style")) style.remove();
  // The marks' own labels ("rule", "dot") mean nothing to readers.
  for (const mark of drawn.querySelectorAll("[aria-label]")) mark.removeAttribute("aria-label");
  drawn.setAttribute("role", "img");
  return drawn as unknown as SVGSVGElement;
}
