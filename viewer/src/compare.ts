// The page of several runs: what changed against the first, durations side by side, scaling.

import { axis, Chart, tip, tooltip, type Option } from "./chart";
import { filterBox, frame } from "./chrome";
import type { Change, Changes, ComparedRun, ComparisonData } from "./data";
import { choice, clear, el, segments, swatch } from "./dom";
import { parseFilter, type Filter } from "./filter";
import { clip, count, shortCount, signedPercent, signedTime, time, visible } from "./format";
import { regionColours } from "./palette";
import { Section } from "./section";
import type { Colours } from "./theme";

const LINES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];
const DASHES = ["solid", "dashed", "dotted"];
const SYMBOLS = ["circle", "rect", "triangle", "diamond"];
const WHOLE = -1;

type Axis = "ranks" | "nodes" | "threads" | "cores";
const AXES: Axis[] = ["ranks", "nodes", "threads", "cores"];
const AXIS_TITLES: Record<Axis, string> = { ranks: "MPI ranks", nodes: "nodes", threads: "OpenMP threads", cores: "cores (MPI ranks × OpenMP threads)" };

class Comparison {
  filter: Filter = parseFilter("");
  selected = WHOLE;
  readonly names: string[];
  readonly colours: Map<string, string>;
  private listeners: (() => void)[] = [];

  constructor(readonly data: ComparisonData) {
    this.names = data.regions.map((r) => visible(r.name));
    const colours = regionColours(data.regions.map((r) => r.name));
    this.colours = new Map(data.regions.map((r, i) => [r.name, colours[i]]));
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  tell(): void {
    for (const listener of this.listeners) listener();
  }

  takes(name: string): boolean {
    const i = this.data.regions.findIndex((r) => r.name === name);
    const value = i < 0 ? null : this.data.regions[i].values.find((v) => v !== null);
    const total = value?.[0] ?? 0;
    const calls = value?.[2] ?? 0;
    return this.filter.takes(name, { tags: [], wall: this.data.runs[0].wall, numbers: { calls, total, self: total, avg: calls ? total / calls : 0, max: total } });
  }

  /** Regions that every filter takes, by their mean total in the first run. */
  largest(): number[] {
    const of = (i: number) => Math.max(...this.data.regions[i].values.map((v) => v?.[0] ?? 0));
    return this.data.regions.map((_, i) => i).filter((i) => this.takes(this.data.regions[i].name) && this.data.regions[i].name !== "scope_profiler.session").sort((a, b) => of(b) - of(a));
  }
}

function labelOf(runs: ComparedRun[], i: number): string {
  const label = visible(runs[i].label);
  const same = runs.filter((r) => r.label === runs[i].label);
  return same.length > 1 ? `${clip(label, 30)} #${same.indexOf(runs[i]) + 1}` : clip(label, 34);
}

function runsSection(c: Comparison): Section {
  const section = new Section("runs", "Runs", "The first is the baseline.");
  const base = c.data.runs[0].wall;
  section.add(el("div", { class: "scroll" }, el("table", { class: "compact runs" },
    el("thead", {}, el("tr", {}, ["run", "wall time", "against first", "ranks", "nodes", "threads", "cores", "calls", "recorded"].map((t) => el("th", { scope: "col" }, t)))),
    el("tbody", {}, c.data.runs.map((run, i) => el("tr", {},
      el("th", { scope: "row" }, run.link ? el("a", { href: encodeURIComponent(run.link), class: "report-link" }, labelOf(c.data.runs, i)) : el("bdi", {}, labelOf(c.data.runs, i)), i === 0 ? el("span", { class: "tag" }, "baseline") : null),
      el("td", {}, time(run.wall)), el("td", { class: i === 0 ? "" : run.wall > base ? "worse" : "better" }, i === 0 || !base ? "–" : signedPercent((100 * (run.wall - base)) / base)),
      [run.ranks, run.nodes, run.threads, run.cores].map((n) => el("td", {}, count(n))), el("td", {}, shortCount(run.calls)), el("td", {}, (run.timestamp ?? "–").slice(0, 19).replace("T", " "))))))));
  return section;
}

/* ---- What changed ---------------------------------------------------------------------------*/

function isSure(row: Change, grouped: boolean): boolean {
  return !grouped || (row.rate !== null && row.rate <= 0.05) || (row.low !== null && row.high !== null && row.low * row.high > 0);
}

function changeBar(percent: number | null, most: number): HTMLElement {
  const part = percent === null ? 0 : Math.min(50, (50 * Math.abs(percent)) / most);
  const left = percent !== null && percent < 0 ? 50 - part : 50;
  return el("span", { class: "diverging", "aria-hidden": "true" }, el("span", { class: percent !== null && percent > 0 ? "worse" : "better", style: `left:${left}%;width:${part}%` }));
}

function changeTable(c: Comparison, changes: Changes): HTMLElement {
  const grouped = changes.baseline.length > 1;
  const rows = changes.rows.filter((r) => c.takes(r.name));
  const most = Math.max(5, Math.min(100, ...rows.map((r) => Math.abs(r.percent ?? 0)).sort((a, b) => b - a).slice(0, 1)));
  const interval = (r: Change) => (r.low === null || r.high === null ? "–" : `${signedPercent(r.low)} … ${signedPercent(r.high)}`);
  const heads = ["region", changes.per_rank ? "baseline / rank" : "baseline", changes.per_rank ? "now / rank" : "now", "difference", "change", ""];
  if (grouped) heads.push("interval", "slower by chance");
  const line = (r: Change, isWhole: boolean) => el("tr", { class: isSure(r, grouped) ? "" : "unsure", "data-name": clip(r.name, 80) },
    el("th", { scope: "row" }, isWhole ? null : swatch(c.colours.get(r.name) ?? "#888888"), el("bdi", { title: visible(r.name).slice(0, 2000) }, isWhole ? "whole run" : clip(r.name, 50)), r.a === null ? el("span", { class: "tag" }, "new") : r.b === null ? el("span", { class: "tag" }, "gone") : null),
    el("td", {}, time(r.a)), el("td", {}, time(r.b)), el("td", {}, signedTime(r.delta)), el("td", { class: (r.delta ?? 0) > 0 ? "worse" : (r.delta ?? 0) < 0 ? "better" : "" }, signedPercent(r.percent)), el("td", {}, changeBar(r.percent, most)),
    grouped ? [el("td", {}, interval(r)), el("td", {}, (r.delta ?? 0) <= 0 ? "–" : isWhole ? `p = ${(r.p ?? 1).toFixed(3)}` : `${(100 * (r.rate ?? 1)).toFixed(1)} %`)] : null);
  return el("div", { class: "scroll" }, el("table", { class: "compact changes" }, el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, changes.whole ? line(changes.whole, true) : null, rows.slice(0, 60).map((r) => line(r, false)))));
}

function changesSection(c: Comparison): Section {
  const section = new Section("changes", "What changed", "Against the baseline, largest difference first.");
  const holder = el("div", {});
  let at = 0;
  const title = (changes: Changes) => (changes.runs.length > 1 ? `${clip(c.data.runs[changes.runs[0]].label, 30)} (${changes.runs.length} runs)` : labelOf(c.data.runs, changes.runs[0]));
  const draw = () => {
    clear(holder);
    const changes = c.data.changes[at];
    if (!changes) {
      holder.appendChild(el("p", { class: "empty" }, "All runs are repetitions of the first: there is nothing to compare them with."));
      return;
    }
    const grouped = changes.baseline.length > 1;
    holder.appendChild(changeTable(c, changes));
    const notes = [grouped ? `Medians of ${changes.baseline.length} and ${changes.runs.length} runs, the interval of the change, and for what grew how likely that is chance (of the whole run by a rank test, of regions as false discovery rate). Faint rows may be noise.`
      : "One run a side: noise and change cannot be told apart. With three or more runs of one label on both sides the comparison has intervals."];
    if (changes.per_rank) notes.push("The numbers of ranks differ: values are means over ranks.");
    holder.appendChild(el("p", { class: "hint" }, notes.join(" ")));
  };
  if (c.data.changes.length > 1) section.tools.appendChild(choice("Run", c.data.changes.map((changes, i) => [String(i), title(changes)]), "0", (value) => { at = Number(value); draw(); }));
  section.add(holder);
  c.onChange(draw);
  draw();
  return section;
}

/* ---- Durations ------------------------------------------------------------------------------*/

function durationsSection(c: Comparison): Section {
  const section = new Section("durations", "Charts: durations", "Mean over the ranks of the time in each region.");
  let shown: number[] = [];
  const runs = c.data.runs;
  const labels = [...new Set(runs.map((r) => r.label))];
  const repetition = (k: number) => {
    const same = runs.filter((r) => r.label === runs[k].label);
    return same.indexOf(runs[k]) / same.length;
  };
  const chart = new Chart({
    name: "durations", label: "Durations of regions in each run",
    height: () => Math.max(2, Math.min(12, c.largest().length)) * Math.max(26, 11 * Math.min(8, runs.length) + 10) + 80,
    option: (colours, width) => {
      shown = c.largest().slice(0, 12);
      const narrow = width < 600;
      return {
        grid: { left: narrow ? 110 : 200, right: 24, top: 34, bottom: 30 },
        legend: { type: "scroll", top: 0, textStyle: { color: colours.soft, fontSize: 11 }, pageTextStyle: { color: colours.soft }, itemWidth: 12, itemHeight: 10 },
        tooltip: tooltip(colours, ((p: { seriesIndex: number; dataIndex: number; value: number }) => {
          const base = c.data.regions[shown[p.dataIndex]].values[0]?.[0];
          return tip([clip(c.names[shown[p.dataIndex]], 90), ["run", labelOf(runs, p.seriesIndex)], ["mean of ranks", time(p.value)], ["against first", base ? signedPercent((100 * (p.value - base)) / base) : "–"]]);
        }) as never),
        xAxis: axis(colours, { type: "value", axisLabel: { formatter: (v: number) => time(v) }, splitNumber: narrow ? 2 : 5 }),
        yAxis: axis(colours, { type: "category", inverse: true, data: shown.map((i) => clip(c.names[i], narrow ? 15 : 30)), axisTick: { show: false }, axisLabel: { interval: 0, hideOverlap: false, color: colours.ink, width: narrow ? 100 : 190, overflow: "truncate" } }),
        series: runs.slice(0, 8).map((_, k) => ({
          name: labelOf(runs, k), type: "bar", barMaxWidth: 12, barGap: "10%", itemStyle: { color: LINES[labels.indexOf(runs[k].label) % LINES.length], opacity: 1 - 0.6 * repetition(k) },
          data: shown.map((i) => c.data.regions[i].values[k]?.[0] ?? 0),
        })),
      };
    },
  });
  if (runs.length > 8) section.add(el("p", { class: "hint" }, `The first 8 of ${runs.length} runs.`));
  section.chart(chart);
  c.onChange(() => chart.redraw());
  return section;
}

/* ---- Scaling --------------------------------------------------------------------------------*/

interface Point { x: number; time: number; speedup: number; efficiency: number; serial: number | null }

/** Runs with the same x are repetitions: their mean counts. The baseline is the smallest x. */
export function scale(xs: number[], times: (number | null)[], weak: boolean): Point[] {
  const groups = new Map<number, number[]>();
  xs.forEach((x, i) => {
    const value = times[i];
    if (value !== null && value > 0) groups.set(x, [...(groups.get(x) ?? []), value]);
  });
  const points = [...groups].map(([x, all]) => ({ x, time: all.reduce((a, b) => a + b, 0) / all.length })).sort((a, b) => a.x - b.x);
  return points.map((p) => {
    const grown = p.x / points[0].x;
    const faster = points[0].time / p.time;
    const speedup = weak ? faster * grown : faster;
    // Karp and Flatt: the serial fraction that would explain the speedup on so many times the resources.
    const serial = !weak && grown > 1 ? (1 / speedup - 1 / grown) / (1 - 1 / grown) : null;
    return { x: p.x, time: p.time, speedup, efficiency: speedup / grown, serial };
  });
}

function bestAxis(data: ComparisonData): Axis | null {
  const order = data.x > 0 ? [AXES[data.x - 1]] : (["ranks", "nodes", "threads", "cores"] as Axis[]);
  return order.find((key) => new Set(data.runs.map((r) => r[key])).size > 1) ?? null;
}

class ScalingView {
  readonly section = new Section("scaling", "Scaling", "Against the run with the fewest resources.");
  private axis: Axis;
  private weak: boolean;
  private value: "speedup" | "efficiency" | "serial" | "time" = "speedup";
  private holder = el("div", {});
  private chart: Chart;

  constructor(private c: Comparison, first: Axis) {
    this.axis = first;
    this.weak = c.data.scaling === 2;
    const usable = AXES.filter((key) => new Set(c.data.runs.map((r) => r[key])).size > 1);
    this.section.tools.appendChild(choice("Over", usable.map((key) => [key, key]), first, (value) => { this.axis = value as Axis; this.draw(); }));
    if (c.data.scaling === 0 || c.data.scaling === 3)
      this.section.tools.appendChild(segments("Scaling", [["strong", "strong"], ["weak", "weak"]], "strong", (value) => { this.weak = value === "weak"; this.draw(); }));
    this.section.tools.appendChild(segments("Value", [["speedup", "speedup"], ["efficiency", "efficiency"], ["serial", "serial fraction"], ["time", "time"]], "speedup", (value) => { this.value = value as "speedup"; this.chart.redraw(); }));
    this.chart = new Chart({ name: "scaling", label: "Scaling of the run and of its largest regions", height: () => 340, option: (colours, width) => this.option(colours, width) });
    this.section.chart(this.chart);
    this.section.add(this.holder);
    c.onChange(() => this.draw());
    this.table();
  }

  private xs(): number[] {
    return this.c.data.runs.map((r) => r[this.axis]);
  }

  private lines(): { name: string; points: Point[] }[] {
    const whole = { name: "whole run", points: scale(this.xs(), this.c.data.runs.map((r) => r.wall), this.weak) };
    const regions = this.c.largest().slice(0, 6).map((i) => ({ name: clip(this.c.names[i], 30), points: scale(this.xs(), this.c.data.regions[i].values.map((v) => v?.[0] ?? null), this.weak) }));
    return [whole, ...regions].filter((l) => l.points.length > 1);
  }

  private draw(): void {
    this.table();
    this.chart.redraw();
  }

  private ideal(xs: number[]): [number, number][] | null {
    if (this.value === "speedup") return xs.map((x) => [x, x / xs[0]]);
    return this.value === "efficiency" ? xs.map((x) => [x, 1]) : null;
  }

  private option(colours: Colours, width: number): Option {
    const lines = this.lines();
    const xs = [...new Set(this.xs())].sort((a, b) => a - b);
    const show = (v: number) => (this.value === "time" ? time(v) : this.value === "efficiency" ? `${(100 * v).toFixed(0)} %` : this.value === "speedup" ? `${v.toPrecision(3)} ×` : v.toFixed(3));
    const ideal = this.ideal(xs);
    return {
      grid: { left: 64, right: 20, top: 40, bottom: 44 },
      legend: { type: "scroll", top: 0, textStyle: { color: colours.soft, fontSize: 11, width: width < 600 ? 80 : 160, overflow: "truncate" }, pageTextStyle: { color: colours.soft } },
      tooltip: tooltip(colours, ((p: { seriesName: string; data: number[] }) => tip([p.seriesName, [AXIS_TITLES[this.axis], String(p.data[0])], [this.value === "serial" ? "serial fraction" : this.value, show(p.data[1])]])) as never),
      xAxis: axis(colours, { type: "log", logBase: 2, min: xs[0], max: xs[xs.length - 1], name: AXIS_TITLES[this.axis], nameLocation: "middle", nameGap: 26, axisLabel: { customValues: xs, showMinLabel: true, showMaxLabel: true, formatter: (v: number) => String(Math.round(v)) } }),
      yAxis: axis(colours, { type: "value", min: this.value === "serial" ? undefined : 0, axisLabel: { formatter: show } }),
      series: [
        ...(ideal ? [{ name: "ideal", type: "line", symbol: "none", data: ideal, lineStyle: { color: colours.soft, type: "dashed", width: 1.5 }, itemStyle: { color: colours.soft } }] : []),
        ...lines.map((line, k) => ({
          name: line.name, type: "line", symbol: SYMBOLS[k % SYMBOLS.length], symbolSize: 8, itemStyle: { color: k === 0 ? colours.ink : LINES[(k - 1) % LINES.length] },
          lineStyle: { width: k === 0 ? 3 : 2, color: k === 0 ? colours.ink : LINES[(k - 1) % LINES.length], type: DASHES[Math.floor(k / LINES.length) % 3] },
          data: line.points.filter((p) => this.value !== "serial" || p.serial !== null).map((p) => [p.x, p[this.value] as number]),
        })),
      ],
    };
  }

  private table(): void {
    clear(this.holder);
    const whole = this.lines()[0];
    if (!whole) {
      this.holder.appendChild(el("p", { class: "empty" }, "The runs do not differ in this number: there is nothing to scale over."));
      return;
    }
    this.holder.appendChild(el("div", { class: "scroll" }, el("table", { class: "compact" }, el("caption", {}, `Whole run, ${this.weak ? "weak" : "strong"} scaling`),
      el("thead", {}, el("tr", {}, [this.axis, "wall time", this.weak ? "scaled speedup" : "speedup", "efficiency", "serial fraction (Karp–Flatt)"].map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, whole.points.map((p) => el("tr", {}, el("td", {}, count(p.x)), el("td", {}, time(p.time)), el("td", {}, `${p.speedup.toFixed(2)} ×`), el("td", {}, `${(100 * p.efficiency).toFixed(1)} %`), el("td", {}, p.serial === null ? "–" : p.serial.toFixed(3))))))));
  }
}

export function showComparison(data: ComparisonData): void {
  const c = new Comparison(data);
  const sections = [runsSection(c), changesSection(c)];
  if (data.charts) sections.push(durationsSection(c));
  const over = bestAxis(data);
  if (over && data.charts) sections.push(new ScalingView(c, over).section);
  frame({
    title: "Comparison", subtitle: `${data.runs.length} runs, baseline ${clip(data.runs[0].label, 40)}`, sections, exporter: data.exporter,
    controls: [filterBox("Filter: step ~halo -io total>1ms", (text) => { c.filter = parseFilter(text); c.tell(); return c.filter.error; })],
    keys: [], key: () => false, escape: () => undefined,
  });
  Object.assign(window, { scopeProfiler: { comparison: c, scale } });
}
