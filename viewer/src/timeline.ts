// The timeline: lanes by rank, single calls where the data has them, density where it has not. Only
// what is in view and wide enough is handed to the chart, so that a zoom costs the same everywhere.

import { axis, Chart, tip, tooltip, type Option } from "./chart";
import { el, segments } from "./dom";
import { clip, count, time } from "./format";
import type { Model } from "./model";
import { inkOn } from "./palette";
import { Section } from "./section";
import type { Colours } from "./theme";

const LEAST_ROW = 15;
const MOST_ROW = 26;
const GAP = 0.45; // of a row, between lanes
const HEAD = 8;
const FOOT = 56;
const MOST_HEIGHT = 900;
const MOST_DRAWN = 12000; // single calls

interface LaneView {
  index: number;
  rank: number;
  label: string;
  starts: Float64Array;
  lengths: Float64Array;
  regions: Int32Array;
  levels: Int32Array;
  cells: number[];
  depth: number;
  top: number; // first row
}

// Item of the chart: start, end, row, region, calls (1: a single one), busy, level
type Item = [number, number, number, number, number, number, number];

export class TimelineView {
  readonly section = new Section("timeline", "Timeline", "Lanes by rank and thread. Ctrl and wheel zoom, dragging pans (keys w s a d), a click marks a region, a double click shows the whole.");
  private lanes: LaneView[] = [];
  private chart: Chart;
  private from: number;
  private to: number;
  private rows = 0;
  private order: "rank" | "busy" = "rank";
  private isFolded: boolean; // a lane is one row that shows the innermost region
  private frame = 0;
  private current: Colours | null = null;

  constructor(private model: Model) {
    const { timeline, lanes } = model.data;
    this.from = 0;
    this.to = timeline.span;
    lanes.forEach((lane, i) => this.lanes.push(this.read(i, lane.rank, lane.label)));
    const rows = this.lanes.reduce((sum, lane) => sum + lane.depth + GAP, 0);
    this.isFolded = rows * LEAST_ROW > MOST_HEIGHT;
    this.chart = new Chart({
      name: "timeline", label: "Timeline of the calls by rank and thread",
      height: () => this.height(),
      option: (c, width) => this.option(c, width),
      click: (pick) => this.model.select((pick.data as Item)[3]),
      doubleClick: () => this.chart.zoomTo(0, 1),
      zoom: (from, to) => {
        this.from = from * timeline.span;
        this.to = to * timeline.span;
        this.refresh();
      },
    });
    this.layout();
    if (lanes.length > 1)
      this.section.tools.appendChild(segments("Order of lanes", [["rank", "by rank"], ["busy", "busiest first"]], this.order, (value) => {
        this.order = value as "rank" | "busy";
        this.layout();
        this.chart.redraw();
      }));
    this.section.tools.appendChild(segments("Levels", [["all", "all levels"], ["innermost", "innermost"]], this.isFolded ? "innermost" : "all", (value) => {
      this.isFolded = value === "innermost";
      this.layout();
      this.chart.redraw();
    }));
    this.section.chart(this.chart);
    this.section.add(el("p", { class: "hint reduced" }, this.reduced()));
    model.onChange((what) => {
      if (what === "selection") this.refresh();
      else {
        this.layout();
        this.chart.redraw();
      }
    });
  }

  private read(index: number, rank: number, label: string): LaneView {
    const flat = this.model.data.timeline.calls[index] ?? [];
    const n = flat.length / 4;
    const lane: LaneView = {
      index, rank, label, starts: new Float64Array(n), lengths: new Float64Array(n), regions: new Int32Array(n),
      levels: new Int32Array(n), cells: this.model.data.timeline.cells[index] ?? [], depth: 1, top: 0,
    };
    for (let i = 0, at = 0; i < n; i++) {
      at += flat[4 * i];
      lane.starts[i] = at;
      lane.lengths[i] = flat[4 * i + 1];
      lane.regions[i] = flat[4 * i + 2];
      lane.levels[i] = flat[4 * i + 3];
      lane.depth = Math.max(lane.depth, lane.levels[i] + 1);
    }
    for (let i = 0; i < lane.cells.length; i += 5) lane.depth = Math.max(lane.depth, lane.cells[i] + 1);
    return lane;
  }

  private reduced(): string {
    const t = this.model.data.timeline;
    const drawn = this.model.data.lanes.length;
    const parts = [];
    if (t.dense)
      parts.push(`${count(t.exact)} calls longer than ${time(t.threshold)} are carried one by one; the other ${count(t.dense)} are shown as density in bins of ${time(t.bin)}, coloured by the region of most of the time.`);
    else parts.push(`All ${count(t.exact)} calls are carried one by one.`);
    if (t.deep) parts.push(`${count(t.deep)} calls on deep levels are not drawn.`);
    if (t.undrawn) parts.push(`${count(t.undrawn)} calls on ${count(this.model.data.num_lanes - drawn)} further lanes are not drawn: choose ranks when making the report.`);
    return parts.join(" ");
  }

  private depthOf(lane: LaneView): number {
    if (this.isFolded) return 1;
    return this.model.maxDepth ? Math.min(lane.depth, this.model.maxDepth) : lane.depth;
  }

  private wanted(): LaneView[] {
    const list = this.lanes.filter((lane) => this.model.takesRank(lane.rank));
    if (this.order === "busy")
      list.sort((a, b) => this.model.data.lanes[b.index].covered - this.model.data.lanes[a.index].covered);
    return list;
  }

  private layout(): void {
    let row = 0;
    for (const lane of this.wanted()) {
      lane.top = row;
      row += this.depthOf(lane) + GAP;
    }
    this.rows = Math.max(1, row);
  }

  private height(): number {
    const row = Math.max(LEAST_ROW, Math.min(MOST_ROW, 260 / this.rows));
    return Math.min(MOST_HEIGHT, Math.round(this.rows * row)) + HEAD + FOOT;
  }

  /** Calls and cells in view; those that a pixel would hold in numbers become one. */
  private items(width: number): Item[] {
    const pixel = (this.to - this.from) / Math.max(100, width - 140);
    const dense: Item[] = [];
    let single: Item[] = [];
    const bin = this.model.data.timeline.bin;
    for (const lane of this.wanted()) {
      for (let i = 0; i < lane.cells.length; i += 5) {
        const level = lane.cells[i];
        const start = lane.cells[i + 1] * bin;
        if (start + bin < this.from || start > this.to || !this.model.takesDepth(level) || !this.model.takes(lane.cells[i + 4])) continue;
        dense.push([start, start + bin, lane.top + (this.isFolded ? 0 : level), lane.cells[i + 4], Math.max(2, lane.cells[i + 2]), lane.cells[i + 3], level]);
      }
      const ends = new Float64Array(lane.depth).fill(-1);
      for (let i = 0; i < lane.starts.length; i++) {
        const start = lane.starts[i];
        const end = start + lane.lengths[i];
        const level = lane.levels[i];
        if (end < this.from || start > this.to || !this.model.takesDepth(level) || !this.model.takes(lane.regions[i])) continue;
        if (end - start < pixel && end < ends[level] + pixel) continue;
        ends[level] = end;
        single.push([start, end, lane.top + (this.isFolded ? 0 : level), lane.regions[i], 1, end - start, level]);
      }
    }
    if (single.length > MOST_DRAWN) single = single.sort((a, b) => b[5] - a[5]).slice(0, MOST_DRAWN);
    const items = [...dense, ...single];
    return this.isFolded ? items.sort((a, b) => a[6] - b[6] || b[4] - a[4]) : items; // inner ones over outer ones
  }

  private describe(item: Item): HTMLElement {
    const name = clip(this.model.names[item[3]], 90);
    const lane = this.wanted().find((l) => item[2] >= l.top && item[2] < l.top + this.depthOf(l));
    const where = lane ? `rank ${lane.rank}${lane.label ? ` · ${clip(lane.label, 50)}` : ""}` : "";
    const lines: (string | [string, string])[] = item[4] === 1
      ? [name, ["duration", time(item[1] - item[0])], ["starts at", time(item[0])], where]
      : [`mostly ${name}`, ["calls that begin here", count(item[4])], ["busy", `${time(item[5])} of ${time(item[1] - item[0])}`], where];
    return tip(lines, this.model.colours[item[3]]);
  }

  private label(lane: LaneView): string {
    const many = this.model.data.ranks.length > 1;
    if (lane.label && many) return `${lane.rank} · ${clip(lane.label, 13)}`;
    return lane.label ? clip(lane.label, 18) : `rank ${lane.rank}`;
  }

  private shape(params: unknown, api: Api): unknown {
    void params;
    const start = api.value(0);
    const end = api.value(1);
    const region = api.value(3);
    const a = api.coord([start, api.value(2)]);
    const b = api.coord([end, api.value(2) + 1]);
    const area = api.coord([this.from, 0])[0];
    const limit = api.coord([this.to, 0])[0];
    const x = Math.max(a[0], area);
    const width = Math.max(0.8, Math.min(b[0], limit) - x);
    const height = Math.max(1, b[1] - a[1] - 1);
    const colour = this.model.colours[region];
    const isMarked = region === this.model.selected;
    const isOutlined = isMarked && width > 4 && height >= 8 && api.value(4) === 1;
    const busy = api.value(4) > 1 ? Math.min(1, api.value(5) / (end - start)) : 1;
    const faint = isMarked || this.model.selected < 0 ? 1 : 0.82;
    const size = api.value(4) > 1 ? Math.max(1.5, height * (0.25 + 0.75 * busy)) : height;
    const shape: Record<string, unknown> = {
      type: "rect", shape: { x, y: a[1] + height - size, width, height: size },
      style: { fill: colour, opacity: faint, stroke: isOutlined ? this.current!.ink : undefined, lineWidth: isOutlined ? 1 : 0 },
    };
    if (api.value(4) === 1 && width > 46 && height >= 11)
      shape.textContent = { style: { text: this.model.names[region].slice(0, 200), fill: inkOn(colour), fontSize: 10.5, width: width - 8, overflow: "truncate", ellipsis: "…" } };
    if (shape.textContent) shape.textConfig = { position: "insideLeft", distance: 4 };
    return shape;
  }

  private option(c: Colours, width: number): Option {
    this.current = c;
    const narrow = width < 600;
    const lanes = this.wanted();
    const centres = lanes.map((lane) => lane.top + this.depthOf(lane) / 2);
    const names = new Map(lanes.map((lane, i) => [centres[i], this.label(lane)]));
    const span = this.model.data.timeline.span;
    return {
      grid: { left: narrow ? 64 : 120, right: 14, top: HEAD, bottom: FOOT },
      tooltip: tooltip(c, ((params: { data: Item }) => this.describe(params.data)) as never),
      xAxis: axis(c, { type: "value", min: 0, max: span, axisLabel: { formatter: (v: number) => time(v), showMaxLabel: false } }),
      yAxis: axis(c, {
        type: "value", inverse: true, min: 0, max: this.rows, axisTick: { show: false }, splitLine: { show: false },
        axisLabel: { customValues: centres, hideOverlap: true, width: narrow ? 56 : 110, overflow: "truncate", formatter: (v: number) => names.get(v) ?? this.nearest(names, v) },
      }),
      dataZoom: [
        { type: "inside", filterMode: "none", start: (100 * this.from) / span, end: (100 * this.to) / span, zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, minValueSpan: Math.min(100, span) },
        { type: "slider", filterMode: "none", height: 18, bottom: 6, brushSelect: true, borderColor: c.line, textStyle: { color: c.soft, fontSize: 10 }, labelFormatter: (v: number) => time(v), start: (100 * this.from) / span, end: (100 * this.to) / span },
      ],
      series: [{ type: "custom", renderItem: (p: unknown, api: Api) => this.shape(p, api), data: this.items(width), encode: { x: [0, 1], y: 2 }, clip: true, progressive: 4000 }],
    };
  }

  private nearest(names: Map<number, string>, value: number): string {
    for (const [at, name] of names) if (Math.abs(at - value) < 1e-6) return name;
    return "";
  }

  private refresh(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.chart.patch({ series: [{ data: this.items(this.chart.box.clientWidth) }] }));
  }

  /** Share of the whole that is shown, for tests and for the keys. */
  zoomed(): number {
    return (this.to - this.from) / this.model.data.timeline.span;
  }

  /** w and s zoom, a and d pan, 0 shows the whole. */
  key(key: string): boolean {
    const span = this.model.data.timeline.span;
    const width = this.to - this.from;
    const middle = (this.from + this.to) / 2;
    let [from, to] = [this.from, this.to];
    if (key === "w") [from, to] = [middle - width / 4, middle + width / 4];
    else if (key === "s") [from, to] = [middle - width, middle + width];
    else if (key === "a") [from, to] = [from - width / 4, to - width / 4];
    else if (key === "d") [from, to] = [from + width / 4, to + width / 4];
    else if (key === "0") [from, to] = [0, span];
    else return false;
    if (from < 0) [from, to] = [0, Math.min(span, to - from)];
    if (to > span) [from, to] = [Math.max(0, from - (to - span)), span];
    this.chart.start();
    this.chart.zoomTo(from / span, to / span);
    return true;
  }
}

export interface Api {
  value(i: number): number;
  coord(point: number[]): number[];
}

