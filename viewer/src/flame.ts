// Flame graph and icicle: call paths of all ranks as boxes as wide as their time.

import { axis, Chart, tip, tooltip, type Option } from "./chart";
import type { TreeNode } from "./data";
import { append, clear, el, segments } from "./dom";
import { clip, count, percent, time } from "./format";
import type { Model } from "./model";
import { inkOn } from "./palette";
import { Section } from "./section";
import type { Colours } from "./theme";
import type { Api } from "./timeline";

const ROW = 20;
const FOOT = 30;

export class FlameView {
  readonly section = new Section("flame", "Call paths", "Width is time over all ranks. A click marks the region, a double click makes the path as wide as the picture.");
  private chart: Chart;
  private root: TreeNode;
  private form: "icicle" | "flame" = "icicle";
  private left = new Map<TreeNode, number>();
  private crumbs = el("div", { class: "crumbs" });
  private current: Colours | null = null;
  private drawn: TreeNode[] = [];

  constructor(private model: Model) {
    this.root = model.tree[0];
    this.place();
    this.chart = new Chart({
      name: "call-paths", label: "Call paths by time",
      height: () => (this.levels() + 0.2) * ROW + FOOT,
      option: (c) => this.option(c),
      click: (pick) => this.model.select(this.drawn[pick.index].region),
      doubleClick: (pick) => this.focus(pick ? this.drawn[pick.index] : this.model.tree[0]),
    });
    this.section.tools.appendChild(segments("Form", [["icicle", "icicle"], ["flame", "flame"]], this.form, (value) => {
      this.form = value as "icicle" | "flame";
      this.chart.redraw();
    }));
    this.section.add(this.crumbs);
    this.section.chart(this.chart);
    if (model.data.tree_left_out)
      this.section.add(el("p", { class: "hint reduced" }, `${count(model.data.tree_left_out)} call paths with smaller totals are left out.`));
    this.describePath();
    model.onChange(() => this.chart.redraw());
  }

  /** Where each node begins, in ns from the left of the whole. */
  private place(): void {
    this.left.set(this.model.tree[0], 0);
    for (const node of this.model.tree) {
      let at = this.left.get(node) ?? 0;
      for (const child of [...node.children].sort((a, b) => b.total - a.total)) {
        this.left.set(child, at);
        at += child.total;
      }
    }
  }

  focus(node: TreeNode): void {
    this.root = node;
    this.describePath();
    this.chart.redraw();
  }

  private describePath(): void {
    const path: TreeNode[] = [];
    for (let node: TreeNode | null = this.root; node && node.parent; node = node.parent) path.unshift(node);
    clear(this.crumbs);
    if (path.length === 0) return;
    append(this.crumbs, [el("button", { type: "button", class: "small", onclick: () => this.focus(this.model.tree[0]) }, "whole run")]);
    for (const node of path) append(this.crumbs, [" › ", el("button", { type: "button", class: "small", onclick: () => this.focus(node) }, clip(this.model.names[node.region], 40))]);
  }

  private limit(): number {
    return this.model.maxDepth || 1000;
  }

  private levels(): number {
    const smallest = this.root.total / 2000;
    let deepest = 0;
    for (const node of this.model.tree) if (node.total >= smallest && node.depth < this.limit() && this.isInside(node)) deepest = Math.max(deepest, node.depth + 1);
    return Math.max(1, Math.min(60, deepest));
  }

  private isInside(node: TreeNode): boolean {
    const from = this.left.get(this.root)!;
    const at = this.left.get(node)!;
    return node.parent !== null && at + node.total > from && at < from + this.root.total;
  }

  private visible(): TreeNode[] {
    const smallest = this.root.total / 2000;
    return this.model.tree.filter((n) => n.parent && n.total >= smallest && n.depth < Math.min(60, this.limit()) && this.isInside(n));
  }

  private shape(api: Api, width: number): unknown {
    const node = this.drawn[api.value(3)];
    const from = this.left.get(this.root)!;
    const a = api.coord([Math.max(api.value(0), from), api.value(2)]);
    const b = api.coord([Math.min(api.value(1), from + this.root.total), api.value(2) + 1]);
    const top = Math.min(a[1], b[1]);
    const w = Math.min(b[0] - a[0], width);
    const isMarked = node.region === this.model.selected;
    const fits = this.model.takes(node.region);
    const colour = this.model.colours[node.region];
    const shape: Record<string, unknown> = {
      type: "rect", shape: { x: a[0] + 0.5, y: top + 0.5, width: Math.max(0.7, w - 1), height: ROW - 1 },
      style: { fill: colour, opacity: fits ? 1 : 0.18, stroke: isMarked ? this.current!.ink : undefined, lineWidth: isMarked ? 1.6 : 0 },
    };
    if (w > 40 && fits) {
      const text = `${this.model.names[node.region].slice(0, 200)}  ${w > 170 ? time(node.total) : ""}`;
      shape.textContent = { style: { text, fill: inkOn(colour), fontSize: 11, width: w - 10, overflow: "truncate", ellipsis: "…" } };
      shape.textConfig = { position: "insideLeft", distance: 5 };
    }
    return shape;
  }

  private describe(node: TreeNode): HTMLElement {
    const whole = this.model.tree[0].total;
    return tip([
      clip(this.model.names[node.region], 120), ["total", `${time(node.total)} (${percent((100 * node.total) / whole)})`],
      ["own", `${time(node.own)} (${percent(node.total ? (100 * node.own) / node.total : 0)} of it)`], ["calls", count(node.calls)],
      ["a call", time(node.total / Math.max(1, node.calls))],
    ], this.model.colours[node.region]);
  }

  private option(c: Colours): Option {
    this.current = c;
    this.drawn = this.visible();
    const from = this.left.get(this.root)!;
    const levels = this.levels();
    return {
      grid: { left: 8, right: 8, top: 4, bottom: FOOT - 4 },
      tooltip: tooltip(c, ((p: { dataIndex: number }) => this.describe(this.drawn[p.dataIndex])) as never),
      xAxis: axis(c, { type: "value", min: from, max: from + Math.max(1, this.root.total), axisLabel: { formatter: (v: number) => time(v - from), showMaxLabel: false }, splitLine: { show: false } }),
      yAxis: { type: "value", min: 0, max: levels + 0.2, inverse: this.form === "icicle", show: false },
      series: [{
        type: "custom", clip: true, encode: { x: [0, 1], y: 2 },
        renderItem: (p: { coordSys: { width: number } }, api: Api) => this.shape(api, p.coordSys.width),
        data: this.drawn.map((node, i) => [this.left.get(node)!, this.left.get(node)! + node.total, node.depth, i]),
      }],
    };
  }
}
