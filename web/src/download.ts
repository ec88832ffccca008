// Files for the reader: CSV of what a figure shows, and the figure as a self-contained SVG.

export function save(name: string, type: string, content: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 120_000);
}

type Cell = string | number | null | undefined;

export function csv(rows: Iterable<Cell[]>): string {
  const lines: string[] = [];
  for (const row of rows) {
    lines.push(
      row
        .map((cell) => {
          const text = cell === null || cell === undefined || Number.isNaN(cell) ? "" : String(cell);
          return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
        })
        .join(","),
    );
  }
  return lines.join("\r\n") + "\r\n";
}

const kept = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-dasharray",
  "paint-order",
  "opacity",
  "color",
  "font-family",
  "font-size",
  "font-weight",
  "font-variant-numeric",
  "text-anchor",
  "dominant-baseline",
  "display",
];

/** A copy with every style written out, since style sheets and themes stay behind. */
function frozen(original: Element): SVGElement {
  const copy = original.cloneNode(true) as SVGElement;
  const walk = (from: Element, to: Element) => {
    const style = getComputedStyle(from);
    for (const name of kept) {
      const value = style.getPropertyValue(name);
      if (value !== "") to.setAttribute(name, value);
    }
    for (let i = 0; i < from.children.length; i++) walk(from.children[i], to.children[i]);
  };
  walk(original, copy);
  return copy;
}

/** Drawings side by side or on top of each other, where they stand on the screen, as one SVG. */
export function svgText(elements: (SVGSVGElement | HTMLCanvasElement)[], title: string): string {
  const boxes = elements.map((element) => element.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const width = Math.max(...boxes.map((box) => box.right)) - left;
  const height = Math.max(...boxes.map((box) => box.bottom)) - top;
  const space = "http://www.w3.org/2000/svg";
  const page = document.createElementNS(space, "svg");
  page.setAttribute("viewBox", `0 0 ${width} ${height}`);
  page.setAttribute("width", String(width));
  page.setAttribute("height", String(height));
  const name = document.createElementNS(space, "title");
  name.textContent = title;
  const ground = document.createElementNS(space, "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  page.append(name, ground);
  elements.forEach((element, i) => {
    const place = { x: boxes[i].left - left, y: boxes[i].top - top, width: boxes[i].width, height: boxes[i].height };
    let part: SVGElement;
    if (element instanceof HTMLCanvasElement) {
      part = document.createElementNS(space, "image");
      part.setAttribute("href", element.toDataURL("image/png"));
    } else {
      part = frozen(element);
    }
    for (const [key, value] of Object.entries(place)) part.setAttribute(key, String(value));
    page.append(part);
  });
  return new XMLSerializer().serializeToString(page);
}
