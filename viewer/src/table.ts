// The statistics tree: sort, collapse, rows of single ranks, source text.

import { clear, el, swatch } from "./dom";
import { clip, count, percent, time } from "./format";
import type { Model } from "./model";
import { Section } from "./section";

interface Row {
  id: number;
  region: number;
  depth: number;
  parent: Row | null;
  children: Row[];
  values: Record<string, number | null>;
}

interface Column {
  key: string;
  title: string;
  hint: string;
  show(value: number | null): string;
}

const seconds = (value: number | null) => (value === null ? "–" : (value / 1e9).toPrecision(4));

const COLUMNS: Column[] = [
  { key: "ranks", title: "ranks", hint: "ranks that called it", show: count },
  { key: "calls", title: "calls", hint: "number of calls", show: count },
  { key: "total", title: "total", hint: "time in the region and in regions inside it, over all ranks", show: time },
  { key: "exclusive", title: "own", hint: "time in the region itself, not in regions inside it", show: time },
  { key: "own_percent", title: "% own", hint: "share of the own time of all regions", show: percent },
  { key: "percent", title: "% session", hint: "share of the session during which it was active", show: percent },
  { key: "parent_percent", title: "% parent", hint: "share of the region around it", show: percent },
  { key: "avg", title: "avg", hint: "mean duration of a call", show: time },
  { key: "min", title: "min", hint: "shortest call", show: time },
  { key: "max", title: "max", hint: "longest call", show: time },
  { key: "first", title: "first", hint: "duration of the first call", show: time },
  { key: "last", title: "last", hint: "duration of the last call", show: time },
  { key: "std", title: "std", hint: "standard deviation of the durations", show: time },
  { key: "p50", title: "p50", hint: "median duration", show: time },
  { key: "p95", title: "p95", hint: "95 of 100 calls take no longer", show: time },
  { key: "p99", title: "p99", hint: "99 of 100 calls take no longer", show: time },
  { key: "imbalance", title: "imbalance", hint: "slowest rank over the mean of the ranks", show: percent },
  { key: "gpu_total", title: "gpu total [s]", hint: "time on the device; asynchronous GPU work may still run when its region has ended", show: seconds },
  { key: "gpu_avg", title: "gpu avg", hint: "mean time on the device", show: time },
];
const DEFAULT = ["calls", "total", "exclusive", "own_percent", "percent", "avg", "max", "p95"];

export class StatisticsTable {
  readonly section = new Section("statistics", "Region statistics");
  private rows: Row[] = [];
  private roots: Row[] = [];
  private closed = new Set<number>();
  private opened = new Set<number>(); // rows whose ranks are shown
  private sort = "";
  private descending = true;
  private columns: Column[];
  private holder = el("div", { class: "scroll", tabindex: "-1" });
  private cursor = -1;
  private shown: Row[] = [];
  private flat = false;

  constructor(private model: Model) {
    const { table } = model.data;
    this.flat = table.flat;
    for (const cells of table.rows) {
      const values: Record<string, number | null> = {};
      table.columns.forEach((key, i) => (values[key] = cells[i]));
      const own = model.ownTotal;
      values.own_percent = values.exclusive !== null && own > 0 && values.region !== model.session ? (100 * values.exclusive) / own : null;
      const parent = (values.parent ?? -1) >= 0 ? this.rows[values.parent!] ?? null : null;
      const row: Row = { id: this.rows.length, region: values.region!, depth: values.depth!, parent, children: [], values };
      this.rows.push(row);
      if (parent) parent.children.push(row);
      else this.roots.push(row);
    }
    const wanted = model.data.shown_columns.length ? model.data.shown_columns : this.defaults();
    this.columns = COLUMNS.filter((c) => wanted.includes(c.key));
    this.controls();
    model.onChange((what) => (what === "selection" ? this.mark() : this.draw()));
    this.draw();
    this.section.add(this.holder);
    this.notes();
  }

  private has(key: string): boolean {
    return this.rows.some((row) => row.values[key] !== null && row.values[key] !== undefined);
  }

  private defaults(): string[] {
    const keys = DEFAULT.filter((key) => this.has(key));
    if (this.model.data.num_ranks > 1) keys.push("ranks", "imbalance");
    if (this.has("gpu_total")) keys.push("gpu_total");
    return keys;
  }

  private controls(): void {
    const list = el("div", { class: "menu-list" });
    for (const column of COLUMNS) {
      if (!this.has(column.key)) continue;
      const box = el("input", { type: "checkbox", checked: this.columns.includes(column) });
      box.addEventListener("change", () => {
        const chosen = new Set(this.columns);
        if (box.checked) chosen.add(column);
        else chosen.delete(column);
        this.columns = COLUMNS.filter((c) => chosen.has(c));
        this.draw();
      });
      list.appendChild(el("label", { title: column.hint }, box, column.title));
    }
    this.section.tools.appendChild(el("details", { class: "menu" }, el("summary", {}, "Columns"), list));
    const button = (text: string, hint: string, act: () => void) =>
      el("button", { type: "button", class: "small", title: hint, onclick: act }, text);
    this.section.tools.appendChild(button("Expand all", "Show all levels", () => { this.closed.clear(); this.draw(); }));
    this.section.tools.appendChild(button("Collapse", "Show the outermost regions only", () => {
      for (const row of this.rows) if (row.children.length) this.closed.add(row.id);
      this.draw();
    }));
  }

  private notes(): void {
    const { data } = this.model;
    const notes = [];
    if (data.table.left_out) notes.push(`${count(data.table.left_out)} more call paths with smaller totals are left out.`);
    if (this.flat && data.num_calls) notes.push(`One row a region, without call paths: ${data.aggregate ? "the run kept totals, no calls" : data.tree_reason}.`);
    if (this.has("gpu_total")) notes.push("asynchronous GPU work may still run when its region has ended, so device times need not fit into the times beside them.");
    for (const note of notes) this.section.add(el("p", { class: "hint" }, note));
  }

  private value(row: Row, key: string): number {
    return row.values[key] ?? -Infinity;
  }

  private ordered(rows: Row[]): Row[] {
    if (!this.sort) return rows;
    const sign = this.descending ? -1 : 1;
    const by = this.sort === "name"
      ? (a: Row, b: Row) => this.model.names[a.region].localeCompare(this.model.names[b.region])
      : (a: Row, b: Row) => this.value(a, this.sort) - this.value(b, this.sort);
    return [...rows].sort((a, b) => sign * by(a, b) || a.id - b.id);
  }

  /** Rows that are shown: those the filter takes, with the rows above them. */
  private visible(): Row[] {
    const kept = new Set<Row>();
    for (const row of this.rows)
      if (this.model.takes(row.region) && this.model.takesDepth(row.depth))
        for (let r: Row | null = row; r && !kept.has(r); r = r.parent) kept.add(r);
    const out: Row[] = [];
    const walk = (rows: Row[]) => {
      for (const row of this.ordered(rows)) {
        if (!kept.has(row) || out.length >= this.model.topN) continue;
        out.push(row);
        if (!this.closed.has(row.id)) walk(row.children);
      }
    };
    walk(this.roots);
    return out;
  }

  private head(): HTMLElement {
    const cell = (key: string, title: string, hint: string) => {
      const on = this.sort === key;
      return el("th", { scope: "col", "aria-sort": on ? (this.descending ? "descending" : "ascending") : "none", class: key === "name" ? "name" : "" },
        el("button", { type: "button", title: hint, "data-sort": key, onclick: () => this.sortBy(key) }, title,
          el("span", { class: "arrow", "aria-hidden": "true" }, on ? (this.descending ? "▾" : "▴") : "")));
    };
    return el("thead", {}, el("tr", {}, cell("name", "region", "by name; a third click brings the order of time back"), this.columns.map((c) => cell(c.key, c.title, c.hint))));
  }

  private sortBy(key: string): void {
    if (this.sort !== key) {
      this.sort = key;
      this.descending = key !== "name";
    } else if (this.descending === (key !== "name")) this.descending = !this.descending;
    else this.sort = "";
    this.draw();
  }

  private nameCell(row: Row): HTMLElement {
    const name = this.model.names[row.region];
    const toggle = row.children.length
      ? el("button", {
          type: "button", class: "twist", "aria-expanded": String(!this.closed.has(row.id)), "aria-label": `Levels inside ${clip(name, 40)}`,
          onclick: (event: Event) => { event.stopPropagation(); this.toggle(row); },
        }, this.closed.has(row.id) ? "▸" : "▾")
      : el("span", { class: "twist" });
    const ranks = this.model.data.ranks.length > 1 && this.model.cells.has(row.region)
      ? el("button", {
          type: "button", class: "small ranks", title: "Rows of single ranks (of the region, on all call paths)", "aria-expanded": String(this.opened.has(row.id)),
          onclick: (event: Event) => { event.stopPropagation(); this.toggleRanks(row); },
        }, "ranks")
      : null;
    const tags = this.model.data.regions[row.region].tags ?? [];
    return el("th", { scope: "row", class: "name" }, el("div", { style: `padding-left:${Math.min(row.depth, 24) * 14}px` }, toggle, swatch(this.model.colours[row.region]),
      el("bdi", { title: name.slice(0, 2000) }, clip(name, 64)), row.values.recursive ? el("span", { title: "calls itself: one row holds all levels" }, " ↻") : null,
      tags.slice(0, 4).map((tag) => el("span", { class: "tag" }, clip(tag, 20))), ranks));
  }

  private rankRows(row: Row): HTMLElement[] {
    const cells = this.model.cells.get(row.region) ?? [];
    const most = Math.max(1, ...cells.map((c) => (c ? c[1] : 0)));
    return cells.map((cell, i) => {
      const values: Record<string, string> = cell
        ? { calls: count(cell[0]), total: time(cell[1]), exclusive: time(cell[2]), avg: time(cell[1] / cell[0]), max: time(cell[3]) }
        : {};
      if (!this.model.takesRank(this.model.data.ranks[i])) return null;
      return el("tr", { class: "rank-row" }, el("th", { scope: "row", class: "name" }, el("div", { style: `padding-left:${(Math.min(row.depth, 24) + 2) * 14}px` }, `rank ${this.model.data.ranks[i]}`,
        el("span", { class: "meter" }, el("span", { style: `width:${cell ? (100 * cell[1]) / most : 0}%` })))),
      this.columns.map((c) => el("td", {}, values[c.key] ?? "")));
    }).filter((r): r is HTMLTableRowElement => r !== null);
  }

  private draw(): void {
    this.shown = this.visible();
    const most: Record<string, number> = {};
    for (const key of ["total", "exclusive"]) most[key] = Math.max(1, ...this.rows.map((r) => r.values[key] ?? 0));
    const body = el("tbody", {});
    for (const row of this.shown) {
      const line = el("tr", { "data-region": row.region, "data-row": row.id, onclick: () => { this.cursor = this.shown.indexOf(row); this.model.select(row.region); } },
        this.nameCell(row), this.columns.map((c) => {
          const value = row.values[c.key] ?? null;
          const part = most[c.key] && value ? (100 * value) / most[c.key] : 0;
          return el("td", part ? { class: "metered", style: `--part:${part.toFixed(1)}%` } : {}, c.show(value));
        }));
      body.appendChild(line);
      if (this.opened.has(row.id)) for (const one of this.rankRows(row)) body.appendChild(one);
    }
    clear(this.holder);
    if (this.shown.length === 0)
      this.holder.appendChild(el("p", { class: "empty" }, this.rows.length ? "No region fits the filter." : "No regions were recorded."));
    else this.holder.appendChild(el("table", { class: "statistics" }, this.head(), body));
    const hidden = this.rows.length - this.shown.length;
    if (this.shown.length >= this.model.topN && hidden > 0)
      this.holder.appendChild(el("p", { class: "hint" }, `The first ${count(this.shown.length)} rows of ${count(this.rows.length)}; “Rows” above sets the limit.`));
    this.mark();
  }

  private mark(): void {
    for (const line of this.holder.querySelectorAll<HTMLElement>("tr[data-region]")) {
      const row = this.rows[Number(line.dataset.row)];
      line.classList.toggle("marked", row.region === this.model.selected);
      line.classList.toggle("faint", !this.model.takes(row.region));
      line.classList.toggle("cursor", this.shown[this.cursor] === row);
    }
  }

  private toggle(row: Row): void {
    if (this.closed.has(row.id)) this.closed.delete(row.id);
    else this.closed.add(row.id);
    this.draw();
  }

  private toggleRanks(row: Row): void {
    if (this.opened.has(row.id)) this.opened.delete(row.id);
    else this.opened.add(row.id);
    this.draw();
  }

  /** j and k move, h and l close and open. */
  key(key: string): boolean {
    const row = this.shown[this.cursor];
    if (key === "j" || key === "k") {
      this.cursor = Math.max(0, Math.min(this.shown.length - 1, this.cursor + (key === "j" ? 1 : -1)));
      if (this.shown[this.cursor]) this.model.select(this.shown[this.cursor].region);
      this.mark();
      this.holder.querySelector("tr.cursor")?.scrollIntoView({ block: "nearest" });
      return true;
    }
    if ((key === "h" || key === "l") && row && row.children.length && this.closed.has(row.id) === (key === "l")) {
      this.toggle(row);
      return true;
    }
    return false;
  }
}
