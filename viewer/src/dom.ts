// Elements without markup: every text is set as text, so that a name can never be more than a name.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, unknown>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "class") element.className = String(value);
    else if (name === "style") element.style.cssText = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: (Child | Child[])[]): void {
  for (const child of children.flat())
    if (child !== null && child !== undefined && child !== false)
      parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
}

export function clear(element: Element): void {
  while (element.firstChild) element.removeChild(element.firstChild);
}

export function swatch(colour: string): HTMLElement {
  return el("span", { class: "swatch", style: `background:${colour}`, "aria-hidden": "true" });
}

export function download(name: string, content: Blob): void {
  const link = el("a", { href: URL.createObjectURL(content), download: name });
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A select element; `change` is told the chosen value. */
export function choice(label: string, options: [string, string][], value: string, change: (value: string) => void): HTMLElement {
  const select = el("select", { "aria-label": label, onchange: () => change(select.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));
  return el("label", { class: "choice" }, el("span", {}, label), select);
}

/** Buttons of which one is on. */
export function segments(label: string, options: [string, string][], value: string, change: (value: string) => void): HTMLElement {
  const group = el("div", { class: "segments", role: "group", "aria-label": label });
  for (const [key, text] of options) {
    const button = el("button", {
      type: "button", "aria-pressed": String(key === value), "data-value": key,
      onclick: () => {
        for (const other of group.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
        change(key);
      },
    }, text);
    group.appendChild(button);
  }
  return group;
}
