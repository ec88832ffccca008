// A figure of the report: a drawing, a sentence that says what it shows, and both as files.
import { h } from "./dom";
import { csv, save, svgText } from "./download";

export interface FigureParts {
  name: string; // of the files
  title: string;
  body: HTMLElement;
  drawings: () => (SVGSVGElement | HTMLCanvasElement)[];
  rows: () => Iterable<(string | number | null | undefined)[]>;
  controls?: HTMLElement;
}

export interface Figure {
  element: HTMLElement;
  say(sentence: string): void;
}

export function figure(parts: FigureParts): Figure {
  const caption = h("figcaption", {});
  const button = (label: string, what: string, act: () => void) =>
    h(
      "button",
      { type: "button", class: "small", "aria-label": `${parts.title}: download ${what}`, onclick: act },
      label,
    );
  const element = h(
    "figure",
    { id: `figure-${parts.name}` },
    h(
      "div",
      { class: "figure-head" },
      h("h3", {}, parts.title),
      parts.controls ?? null,
      h(
        "span",
        { class: "downloads" },
        button("SVG", "the drawing as SVG", () =>
          save(`${parts.name}.svg`, "image/svg+xml", svgText(parts.drawings(), parts.title)),
        ),
        button("CSV", "the numbers as CSV", () => save(`${parts.name}.csv`, "text/csv", csv(parts.rows()))),
      ),
    ),
    parts.body,
    caption,
  );
  return { element, say: (sentence) => (caption.textContent = sentence) };
}
