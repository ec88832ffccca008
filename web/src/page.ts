// How a page is put together: the verdict and the first section come at once, the rest as soon as these are on the
// screen.
import { h, later } from "./dom";

export interface Section {
  id: string;
  label: string;
  make: () => HTMLElement | null;
}

export function mount(root: HTMLElement, head: HTMLElement, first: Section, sections: Section[]): void {
  const links = h("ul", {});
  const link = (id: string, label: string) => links.append(h("li", {}, h("a", { href: `#${id}` }, label)));
  link("verdict", "Verdict");
  link(first.id, first.label);
  const main = h("main", {});
  root.append(
    h("a", { class: "skip", href: `#${first.id}` }, `Skip to: ${first.label}`),
    h("nav", { class: "top", "aria-label": "Sections" }, links),
    main,
  );
  main.append(head);
  const element = first.make();
  if (element !== null) main.append(element);
  const rest = sections.slice();
  const next = () => {
    const section = rest.shift();
    if (!section) {
      main.append(h("footer", {}, "Made by Coppice. This page is a single file and loads nothing."));
      document.documentElement.dataset.ready = "";
      return;
    }
    const made = section.make();
    if (made !== null) {
      main.append(made);
      link(section.id, section.label);
    }
    later(next);
  };
  requestAnimationFrame(() =>
    setTimeout(() => {
      performance.mark("first-picture"); // the frame with the first section is out
      next();
    }),
  );
}
