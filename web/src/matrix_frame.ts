// A square matrix with names along its sides: of every line where there is room, else of every few lines, or of groups of
// lines with a bracket each.
import { h, svg, styled } from "./dom";
import { shortened, textWidth, thinning } from "./fit";

export interface Group {
  from: number; // fractions of the side
  to: number;
  name: string; // on the left
  short: string; // on top
}

export type Sides = { names: string[] } | { groups: Group[] };

const size = 10.5;
const pitch = 11; // pixels that a name needs
const mostText = 150;

export class MatrixFrame {
  readonly element: HTMLElement;
  private readonly left = svg("svg", { class: "side", "aria-hidden": "true" });
  private readonly top = svg("svg", { class: "side", "aria-hidden": "true" });
  private readonly square: HTMLElement;
  private sides: Sides = { names: [] };
  private drawn = 0;

  constructor(
    private readonly widest: number,
    ...canvases: HTMLCanvasElement[]
  ) {
    this.square = h("div", { class: "heat square" }, ...canvases);
    this.element = h("div", { class: "matrix-frame" }, h("span", {}), this.top, this.left, this.square);
    new ResizeObserver(() => {
      if (this.element.clientWidth !== this.drawn) this.draw();
    }).observe(this.element);
  }

  get drawings(): SVGSVGElement[] {
    return [this.left, this.top];
  }

  show(sides: Sides): void {
    this.sides = sides;
    this.draw();
  }

  private draw(): void {
    this.drawn = this.element.clientWidth;
    if (this.drawn === 0) return;
    const texts = "names" in this.sides ? this.sides.names : this.sides.groups.map((group) => group.name);
    const longest = Math.max(0, ...texts.map((text) => textWidth(text, size)));
    const room = Math.ceil(Math.min(longest, mostText, this.drawn * 0.34)) + 12;
    const side = Math.floor(Math.min(this.widest, this.drawn - room));
    styled(this.square, { width: `${side}px` });
    if ("names" in this.sides) this.drawNames(this.sides.names, side, room);
    else this.drawGroups(this.sides.groups, side, room);
  }

  private place(element: SVGSVGElement, width: number, height: number, parts: SVGElement[]): void {
    element.setAttribute("width", String(width));
    element.setAttribute("height", String(height));
    element.replaceChildren(...parts);
  }

  private drawNames(names: string[], side: number, room: number): void {
    const each = side / Math.max(1, names.length);
    const step = thinning(each, pitch);
    const left: SVGElement[] = [];
    const top: SVGElement[] = [];
    names.forEach((name, i) => {
      if (i % step !== 0) return;
      const at = (i + 0.5) * each;
      const text = shortened(name, room - 12, size);
      left.push(svg("text", { x: room - 4, y: at + 3.5, class: "side-name", "text-anchor": "end" }, text));
      top.push(svg("text", { transform: `translate(${at + 3.5},${room - 4}) rotate(-90)`, class: "side-name" }, text));
    });
    this.place(this.left, room, side, left);
    this.place(this.top, side, room, top);
  }

  private drawGroups(groups: Group[], side: number, room: number): void {
    const left: SVGElement[] = [];
    const top: SVGElement[] = [];
    const height = 22;
    let [lastLeft, lastTop] = [-Infinity, -Infinity]; // ends of the names so far
    for (const { from, to, name, short } of groups) {
      const [start, end] = [from * side, to * side];
      const middle = (start + end) / 2;
      left.push(svg("line", { x1: room - 3, x2: room - 3, y1: start + 0.5, y2: end - 0.5, class: "bracket" }));
      top.push(svg("line", { x1: start + 0.5, x2: end - 0.5, y1: height - 3, y2: height - 3, class: "bracket" }));
      if (middle - pitch / 2 >= lastLeft) {
        const text = shortened(name, room - 12, size);
        left.push(svg("text", { x: room - 8, y: middle + 3.5, class: "side-name", "text-anchor": "end" }, text));
        lastLeft = middle + pitch / 2;
      }
      const wide = textWidth(short, size);
      if (middle - wide / 2 >= lastTop + 3) {
        top.push(svg("text", { x: middle, y: height - 8, class: "side-name", "text-anchor": "middle" }, short));
        lastTop = middle + wide / 2;
      }
    }
    this.place(this.left, room, side, left);
    this.place(this.top, side, height, top);
  }
}
