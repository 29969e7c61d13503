// What every page has around its sections: title, filter, switches, keys, licenses.

import { append, clear, el } from "./dom";
import { FILTER_HELP } from "./filter";
import { contents, type Section } from "./section";
import { toggleTheme } from "./theme";

declare const EMBEDDED_PACKAGES: { name: string; version: string; license: string; text: string }[];

export interface FrameOptions {
  title: string;
  subtitle: string;
  sections: Section[];
  exporter: string;
  controls: (HTMLElement | null)[];
  keys: [string, string][];
  key(event: KeyboardEvent): boolean;
  escape(): void;
}

export function filterBox(placeholder: string, change: (text: string) => string): HTMLElement {
  const trouble = el("span", { class: "trouble", role: "status" });
  const box = el("input", {
    type: "search", id: "filter", placeholder, spellcheck: "false", autocomplete: "off", "aria-label": "Filter regions", "aria-describedby": "filter-trouble",
  });
  trouble.id = "filter-trouble";
  let timer = 0;
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      trouble.textContent = change(box.value);
      box.classList.toggle("bad", trouble.textContent !== "");
    }, 120);
  });
  return el("div", { class: "filter" }, box, trouble);
}

function help(options: FrameOptions): HTMLDialogElement {
  const table = (caption: string, rows: [string, string][]) =>
    el("table", { class: "pairs" }, el("caption", {}, caption), el("tbody", {}, rows.map(([key, text]) => el("tr", {}, el("th", { scope: "row" }, el("code", {}, key)), el("td", {}, text)))));
  const dialog = el("dialog", { id: "help", "aria-label": "Help" },
    table("Filter: words, all of which must hold", FILTER_HELP),
    table("Keys", [["/", "filter"], ["Esc", "clear the mark, close this"], ...options.keys, ["t", "light or dark"], ["?", "this help"]]),
    el("form", { method: "dialog" }, el("button", {}, "Close")));
  return dialog;
}

function licenses(): HTMLElement {
  return el("details", { class: "licenses", id: "licenses" }, el("summary", {}, "Licenses of what this page embeds"),
    el("p", {}, "The page itself: MIT, as the profiler."),
    EMBEDDED_PACKAGES.map((p) => el("details", {}, el("summary", {}, `${p.name} ${p.version}, ${p.license}`), el("pre", { class: "source" }, p.text))));
}

function onKey(event: KeyboardEvent, options: FrameOptions, dialog: HTMLDialogElement): void {
  const target = event.target as HTMLElement;
  const types = target.tagName === "INPUT" || target.tagName === "SELECT" || target.tagName === "TEXTAREA";
  if (event.key === "Escape") {
    if (types) target.blur();
    else if (!dialog.open) options.escape();
    return;
  }
  if (types || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.key === "/") document.getElementById("filter")?.focus();
  else if (event.key === "t") toggleTheme();
  else if (event.key === "?") dialog.showModal();
  else if (!options.key(event)) return;
  event.preventDefault();
}

export function frame(options: FrameOptions): void {
  const dialog = help(options);
  const page = document.getElementById("page")!;
  clear(page);
  append(page, [
    el("header", { class: "top-bar" },
      el("div", { class: "title" }, el("h1", {}, el("bdi", { title: options.title.slice(0, 2000) }, options.title)), el("span", { class: "subtitle" }, el("bdi", {}, options.subtitle))),
      options.controls,
      el("span", { class: "switches" },
        el("button", { type: "button", id: "theme", title: "Light or dark (t)", onclick: () => toggleTheme() }, "◐"),
        el("button", { type: "button", id: "help-button", title: "Filter syntax and keys (?)", onclick: () => dialog.showModal() }, "?"))),
    el("div", { class: "columns" }, contents(options.sections),
      el("main", {}, options.sections.map((s) => s.root), el("footer", {}, el("p", {}, `Made by ${options.exporter}.`), licenses()))),
    dialog,
  ]);
  document.addEventListener("keydown", (event) => onKey(event, options, dialog));
}
