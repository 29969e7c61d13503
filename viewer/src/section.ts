// A section of the page: heading, controls on the right, body; and an entry in the list of contents.

import type { Chart } from "./chart";
import { append, el } from "./dom";

export class Section {
  readonly root: HTMLElement;
  readonly body: HTMLElement;
  readonly tools: HTMLElement;

  constructor(readonly id: string, readonly title: string, hint = "") {
    this.tools = el("div", { class: "tools" });
    this.body = el("div", { class: "body" });
    this.root = el("section", { id, "aria-labelledby": `${id}-title` },
      el("header", {}, el("h2", { id: `${id}-title` }, title), this.tools),
      hint ? el("p", { class: "hint" }, hint) : null, this.body);
  }

  add(...children: (Node | string | null)[]): this {
    append(this.body, children);
    return this;
  }

  chart(chart: Chart): this {
    this.tools.appendChild(chart.buttons());
    this.body.appendChild(chart.box);
    return this;
  }
}

export function contents(sections: Section[]): HTMLElement {
  const list = el("nav", { class: "contents", "aria-label": "Contents" },
    sections.map((s) => el("a", { href: `#${s.id}` }, s.title)));
  const marks = new Map(sections.map((s, i) => [s.root as Element, list.children[i]]));
  const inView = new Set<Element>();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) inView.add(entry.target);
      else inView.delete(entry.target);
    }
    const first = sections.find((s) => inView.has(s.root));
    for (const [root, mark] of marks) mark.classList.toggle("here", root === first?.root);
  }, { rootMargin: "-30% 0px -60% 0px" });
  for (const section of sections) observer.observe(section.root);
  return list;
}
