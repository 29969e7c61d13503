// Everything about the region that is marked: figures, where it is defined, how long its calls take,
// the longest of them, and whether they drift.

import { axis, Chart, tip, tooltip, type Option } from "./chart";
import { binEdge, nextBin } from "./data";
import { append, clear, el, segments, swatch } from "./dom";
import { clip, count, percent, shortCount, time } from "./format";
import type { Model } from "./model";
import { Section } from "./section";
import type { Colours } from "./theme";

/** Powers of ten between two logarithms, and their twos and fives where there are few. */
function ticks(low: number, high: number): number[] {
  const steps = high - low > 4 ? [1] : high - low > 2 ? [1, 3] : high - low > 0.5 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8];
  const out: number[] = [];
  for (let power = Math.floor(low); power <= high; power++)
    for (const step of steps) {
      const value = power + Math.log10(step);
      if (value >= low && value <= high) out.push(value);
    }
  return out;
}

function times(factor: number): string {
  return factor >= 100 ? `${count(factor)} ×` : `${factor.toPrecision(3)} ×`;
}

export class RegionView {
  readonly section = new Section("region", "Marked region");
  private head = el("div", { class: "region-head" });
  private rest = el("div", {});
  private histogram: Chart;
  private drift: Chart;
  private logarithmic = true;
  private drawnBins: [number, number, number][] = [];

  constructor(private model: Model) {
    this.histogram = new Chart({ name: "distribution", label: "Distribution of the durations of calls", height: () => 230, option: (c) => this.histogramOption(c) });
    this.drift = new Chart({ name: "drift", label: "Durations over the time of the run", height: () => 230, option: (c) => this.driftOption(c) });
    this.section.add(this.head);
    if (model.data.charts && model.data.spreads.length) {
      this.section.tools.appendChild(segments("Scale of calls", [["log", "log"], ["linear", "linear"]], "log", (value) => {
        this.logarithmic = value === "log";
        this.histogram.redraw();
      }));
      this.section.add(el("div", { class: "pair" },
        el("figure", {}, el("figcaption", {}, "Durations of its calls", this.histogram.buttons()), this.histogram.box),
        el("figure", {}, el("figcaption", {}, "Drift over the run: mean and longest", this.drift.buttons()), this.drift.box)));
    }
    this.section.add(this.rest);
    model.onChange((what) => {
      if (what === "limits") return;
      this.describe();
      if (what === "selection") {
        this.histogram.redraw();
        this.drift.redraw();
      }
    });
    this.describe();
  }

  private describe(): void {
    const i = this.model.selected;
    clear(this.head);
    clear(this.rest);
    if (i < 0) {
      this.head.appendChild(el("p", { class: "empty" }, "No region is marked. A click on a region in any table or chart marks it."));
      return;
    }
    const region = this.model.data.regions[i];
    const sums = this.model.sum((rank) => this.model.takesRank(rank))[i];
    const wall = this.model.data.wall;
    const where = region.file ? `${region.file}${(region.line ?? -1) > 0 ? `:${region.line}` : ""}` : "";
    append(this.head, [
      el("h3", {}, swatch(this.model.colours[i]), el("bdi", { title: this.model.names[i].slice(0, 2000) }, clip(this.model.names[i], 140))),
      el("p", {}, where ? el("code", {}, el("bdi", {}, where)) : null, (region.tags ?? []).map((tag) => el("span", { class: "tag" }, clip(tag, 40)))),
      el("dl", { class: "figures small" }, [
        ["calls", shortCount(sums.calls)], ["total", time(sums.total)], ["own", `${time(sums.self)}`],
        ["own share", percent((100 * sums.self) / (this.model.ownTotal || 1))], ["a call", time(sums.avg)], ["longest", time(sums.max)],
        ["ranks", count(sums.ranks)], ["of wall time", percent(sums.ranks ? (100 * sums.total) / sums.ranks / (wall || 1) : 0)],
      ].map(([name, value]) => el("div", { class: "figure" }, el("dt", {}, name), el("dd", {}, value)))),
    ]);
    this.longest(i);
    if (region.text) this.rest.appendChild(el("details", {}, el("summary", {}, "Source"), el("pre", { class: "source" }, region.text)));
  }

  private longest(i: number): void {
    const spread = this.model.spreads.get(i);
    if (!spread) {
      if (this.model.data.aggregate) this.rest.appendChild(el("p", { class: "hint" }, "The run kept totals: there are no single calls to show."));
      else if (this.model.all[i].calls) this.rest.appendChild(el("p", { class: "hint" }, "The page carries the distribution of the regions with the largest totals only."));
      return;
    }
    const p = spread.percentiles;
    const median = p ? p[2] : 0;
    const body = el("tbody", {});
    for (let k = 0; k < Math.min(15, spread.longest.length); k += 3)
      body.appendChild(el("tr", {}, el("td", {}, time(spread.longest[k + 2])), el("td", {}, median > 0 ? times(spread.longest[k + 2] / median) : "–"),
        el("td", {}, time(spread.longest[k + 1])), el("td", {}, `${spread.longest[k]}`)));
    this.rest.appendChild(el("div", { class: "pair" },
      el("div", { class: "scroll" }, el("table", { class: "compact" }, el("caption", {}, "Longest calls"), el("thead", {}, el("tr", {}, ["duration", "of median", "starts at", "rank"].map((t) => el("th", { scope: "col" }, t)))), body)),
      p ? el("div", { class: "scroll" }, el("table", { class: "compact" }, el("caption", {}, "Percentiles"), el("thead", {}, el("tr", {}, ["5 %", "25 %", "median", "75 %", "95 %", "99 %"].map((t) => el("th", { scope: "col" }, t)))),
        el("tbody", {}, el("tr", {}, p.map((v) => el("td", {}, time(v))))))) : null));
  }

  /** Bins as from, to, calls; neighbours joined so that at most 60 bars are drawn. */
  private bins(): [number, number, number][] {
    const spread = this.model.spreads.get(this.model.selected);
    if (!spread || spread.bins.length === 0) return [];
    const first = spread.bins[0];
    const last = spread.bins[spread.bins.length - 2];
    const width = Math.max(1, Math.ceil((last - first + 1) / 56));
    const joined = new Map<number, number>();
    for (let i = 0; i < spread.bins.length; i += 2) {
      const key = Math.floor((spread.bins[i] - first) / width);
      joined.set(key, (joined.get(key) ?? 0) + spread.bins[i + 1]);
    }
    const out: [number, number, number][] = [];
    for (const [key, calls] of joined) {
      let end = first + key * width;
      const begin = end;
      for (let k = 0; k < width; k++) end = nextBin(end);
      out.push([binEdge(begin), binEdge(end), calls]);
    }
    return out;
  }

  private histogramOption(c: Colours): Option {
    this.drawnBins = this.bins();
    const colour = this.model.colours[this.model.selected] ?? c.accent;
    const lowest = this.drawnBins.length ? Math.max(0.5, this.drawnBins[0][0]) : 1;
    const highest = this.drawnBins.length ? this.drawnBins[this.drawnBins.length - 1][1] : 10;
    const p = this.model.spreads.get(this.model.selected)?.percentiles;
    const marks = p ? [["median", p[2]], ["95 %", p[4]]] : [];
    // On a logarithmic axis only the powers of ten have ticks; ranges inside one decade get their own.
    const low = Math.log10(lowest) - 0.03;
    const high = Math.log10(highest) + 0.03;
    return {
      grid: { left: 54, right: 16, top: 26, bottom: 34 },
      tooltip: tooltip(c, ((params: { dataIndex: number }) => {
        const bin = this.drawnBins[params.dataIndex];
        return tip([`${time(bin[0])} to ${time(bin[1])}`, ["calls", count(bin[2])]], colour);
      }) as never),
      xAxis: axis(c, { type: "value", min: low, max: high, splitLine: { show: false }, axisTick: { show: false }, axisLabel: { customValues: ticks(low, high), formatter: (v: number) => time(10 ** v), showMinLabel: true, showMaxLabel: true } }),
      yAxis: axis(c, {
        type: this.logarithmic ? "log" : "value", min: this.logarithmic ? 0.7 : 0, max: this.logarithmic && !this.drawnBins.some((b) => b[2] > 8) ? 10 : undefined, name: "calls", nameGap: 8, axisLabel: { formatter: (v: number) => (v < 1 ? "" : shortCount(v)) }, minInterval: 1, splitNumber: 3,
      }),
      series: [{
        type: "custom", clip: true, encode: { x: [0, 1], y: 2 },
        data: this.drawnBins.map((b) => [Math.log10(Math.max(0.5, b[0])), Math.log10(Math.max(0.6, b[1])), b[2]]),
        renderItem: (_p: unknown, api: { value(i: number): number; coord(p: number[]): number[] }) => {
          const a = api.coord([api.value(0), api.value(2)]);
          const b = api.coord([api.value(1), this.logarithmic ? 0.7 : 0]);
          return { type: "rect", shape: { x: a[0] + 0.5, y: a[1], width: Math.max(1, b[0] - a[0] - 1), height: Math.max(1, b[1] - a[1]) }, style: { fill: colour } };
        },
        markLine: {
          symbol: "none", silent: true, animation: false, lineStyle: { color: c.ink, type: "dashed", width: 1 },
          data: marks.map(([name, value], i) => ({ xAxis: Math.log10(Math.max(0.5, value as number)), label: { formatter: String(name), color: c.ink, fontSize: 10, position: "end", distance: i ? 12 : 2 } })),
        },
      }],
    };
  }

  private driftOption(c: Colours): Option {
    const spread = this.model.spreads.get(this.model.selected);
    const colour = this.model.colours[this.model.selected] ?? c.accent;
    const span = this.model.data.timeline.span;
    const step = Math.floor(span / 48) + 1;
    const points: [number, number, number, number][] = [];
    for (let i = 0; spread && i < spread.drift.length; i += 4)
      points.push([(spread.drift[i] + 0.5) * step, spread.drift[i + 2], spread.drift[i + 3], spread.drift[i + 1]]);
    const few = points.length < 2;
    return {
      grid: { left: 60, right: 16, top: 26, bottom: 34 },
      tooltip: { ...tooltip(c, ((params: { data: number[] }[] | { data: number[] }) => {
        const one = Array.isArray(params) ? params[0] : params;
        const point = points.find((p) => p[0] === one.data[0]);
        return point ? tip([`around ${time(point[0])}`, ["mean", time(point[1])], ["longest", time(point[2])], ["calls that begin", count(point[3])]], colour) : "";
      }) as never), trigger: "axis" },
      xAxis: axis(c, { type: "value", min: 0, max: span, splitLine: { show: false }, axisLabel: { formatter: (v: number) => time(v), showMaxLabel: false } }),
      yAxis: axis(c, { type: "value", min: 0, axisLabel: { formatter: (v: number) => time(v) }, splitNumber: 4 }),
      series: [
        { name: "longest", type: "scatter", symbolSize: 5, data: points.map((p) => [p[0], p[2]]), itemStyle: { color: c.soft, opacity: 0.75 } },
        { name: "mean", type: few ? "scatter" : "line", symbol: "circle", symbolSize: few ? 8 : 3, data: points.map((p) => [p[0], p[1]]), itemStyle: { color: colour }, lineStyle: { color: colour, width: 2 } },
      ],
    };
  }
}
