// Elements from code. Text becomes text nodes and nothing else, so names from the data can do no harm.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof window.Node ? child : String(child));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A box that widens to the right; styles go through the object model, which the page's policy allows. */
export function styled<E extends HTMLElement | SVGElement>(element: E, styles: Record<string, string>): E {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value);
  return element;
}

export function table(head: string[], rows: Child[][], caption: string, numeric: boolean[] = []): HTMLTableElement {
  const align = (i: number) => (numeric[i] ? "number" : null);
  return h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...head.map((text, i) => h("th", { scope: "col", class: align(i) }, text)))),
    h(
      "tbody",
      {},
      ...rows.map((row) =>
        h(
          "tr",
          {},
          ...row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: align(i) }, cell))),
        ),
      ),
    ),
  );
}

/** A wide thing that scrolls by itself; it can be reached by keyboard. */
export function scroller(label: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "scroller", role: "region", "aria-label": label, tabindex: 0 }, ...children);
}

/** Runs when the browser has nothing better to do. */
export function later(work: () => void): void {
  const idle = (window as any).requestIdleCallback as ((work: () => void, options: object) => void) | undefined;
  if (idle) idle(work, { timeout: 500 });
  else setTimeout(work, 30);
}

export interface Lazy {
  request(): void; // draws soon if it is on the screen, otherwise when it gets there
  flush(): void; // draws now what was requested
}

/** A drawing that takes time: a click elsewhere need not wait for it. */
export function lazily(element: Element, draw: () => void): Lazy {
  let seen = false;
  let requested = false;
  const flush = () => {
    if (!requested) return;
    requested = false;
    draw();
  };
  new IntersectionObserver(
    (entries) => {
      seen = entries[entries.length - 1].isIntersecting;
      if (seen) flush();
    },
    { rootMargin: "200px" },
  ).observe(element);
  window.addEventListener("beforeprint", flush);
  return {
    request: () => {
      requested = true;
      if (seen) later(flush);
    },
    flush,
  };
}
