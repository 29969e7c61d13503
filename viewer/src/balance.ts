// How the work is spread: durations of the largest regions, load of the ranks, regions by rank.

import { axis, Chart, tip, tooltip, type Option } from "./chart";
import { choice, el, segments } from "./dom";
import { clip, count, percent, time } from "./format";
import type { Model } from "./model";
import { Section } from "./section";
import type { Colours } from "./theme";

const BARS = 15;
const HEAT_ROWS = 24;

export class DurationsView {
  readonly section = new Section("charts", "Charts: durations", "The regions with the most time; of each, the part it spends itself.");
  private order: "self" | "total" = "self";
  private regions: number[] = [];
  private chart: Chart;

  constructor(private model: Model) {
    this.chart = new Chart({
      name: "durations", label: "Durations of the largest regions", height: () => this.count() * 24 + 56,
      option: (c, width) => this.option(c, width), click: (pick) => this.model.select(this.regions[pick.index]),
    });
    this.section.tools.appendChild(segments("Order", [["self", "own time"], ["total", "total"]], "self", (value) => {
      this.order = value as "self" | "total";
      this.chart.redraw();
    }));
    this.section.chart(this.chart);
    model.onChange(() => this.chart.redraw());
  }

  private count(): number {
    return Math.max(2, Math.min(BARS, this.model.topN, this.model.top((s) => s[this.order]).length));
  }

  private option(c: Colours, width: number): Option {
    this.regions = this.model.top((s) => s[this.order]).slice(0, Math.min(BARS, this.model.topN));
    const sums = this.model.sum((rank) => this.model.takesRank(rank));
    const own = this.model.ownTotal || 1;
    const narrow = width < 600;
    const bar = (r: number, value: number, opacity: string) => ({ value, itemStyle: { color: this.model.colours[r] + opacity, borderColor: c.ink, borderWidth: r === this.model.selected ? 1.5 : 0 } });
    return {
      grid: { left: narrow ? 110 : 200, right: 86, top: 8, bottom: 30 },
      tooltip: tooltip(c, ((p: { dataIndex: number }) => {
        const r = this.regions[p.dataIndex];
        return tip([clip(this.model.names[r], 100), ["own", `${time(sums[r].self)} (${percent((100 * sums[r].self) / own)} of all)`], ["total", time(sums[r].total)], ["calls", count(sums[r].calls)]], this.model.colours[r]);
      }) as never),
      xAxis: axis(c, { type: "value", axisLabel: { formatter: (v: number) => time(v) }, splitNumber: narrow ? 2 : 5 }),
      yAxis: axis(c, { type: "category", inverse: true, data: this.regions.map((r) => clip(this.model.names[r], narrow ? 15 : 30)), axisTick: { show: false }, axisLabel: { color: c.ink, interval: 0, hideOverlap: false, width: narrow ? 100 : 190, overflow: "truncate" } }),
      series: [
        { type: "bar", stack: "time", barMaxWidth: 16, data: this.regions.map((r) => bar(r, sums[r].self, "ff")) },
        {
          type: "bar", stack: "time", barMaxWidth: 16, data: this.regions.map((r) => bar(r, Math.max(0, sums[r].total - sums[r].self), "47")),
          label: { show: true, position: "right", color: c.soft, fontSize: 11, formatter: (p: { dataIndex: number }) => time(sums[this.regions[p.dataIndex]][this.order]) },
        },
      ],
    };
  }
}

type Metric = "total" | "own" | "calls" | "max";

export class BalanceView {
  readonly section = new Section("ranks", "Load balance", "Own time of each rank, and each region on each rank against the mean of the ranks.");
  private load: Chart;
  private heat: Chart;
  private metric: Metric = "own";
  private relative = true;
  private shownRanks: number[] = [];
  private rows: number[] = [];
  private parts: number[] = [];

  constructor(private model: Model) {
    this.load = new Chart({
      name: "load-balance", label: "Own time of each rank by region", height: () => 250, option: (c, width) => this.loadOption(c, width),
      click: (pick) => { if (this.parts[pick.series] >= 0) this.model.select(this.parts[pick.series]); },
    });
    this.heat = new Chart({
      name: "rank-heatmap", label: "Regions by rank", height: () => Math.max(3, this.heatRows().length) * 20 + 92, option: (c, width) => this.heatOption(c, width),
      click: (pick) => this.model.select(this.rows[(pick.data as { value: number[] }).value[1]]),
    });
    const tools = el("span", { class: "tools" },
      choice("Value", [["own", "own time"], ["total", "total"], ["calls", "calls"], ["max", "longest call"]], this.metric, (value) => { this.metric = value as Metric; this.heat.redraw(); }),
      segments("Scale", [["relative", "against mean"], ["absolute", "absolute"]], "relative", (value) => { this.relative = value === "relative"; this.heat.redraw(); }), this.heat.buttons());
    this.section.chart(this.load);
    this.section.add(el("figure", {}, el("figcaption", {}, "Rank heatmap", tools), this.heat.box));
    model.onChange((what) => {
      if (what !== "limits") this.load.redraw();
      this.heat.redraw();
    });
  }

  private places(): number[] {
    return this.model.data.ranks.map((_, i) => i).filter((i) => this.model.takesRank(this.model.data.ranks[i]));
  }

  private loadOption(c: Colours, width: number): Option {
    const places = this.places();
    const top = this.model.top((s) => s.self).slice(0, 8);
    const value = (region: number, place: number) => { const cell = this.model.cells.get(region)?.[place]; return cell ? cell[2] ?? cell[1] : 0; };
    const others = this.model.top((s) => s.self).slice(8);
    this.parts = [...top, ...(others.length ? [-1] : [])];
    const narrow = width < 600;
    return {
      grid: { left: 62, right: 12, top: 34, bottom: 36 },
      legend: { type: "plain", top: 0, left: 0, right: 0, height: 24, itemWidth: 10, itemHeight: 10, itemGap: 12, selectedMode: false, textStyle: { color: c.soft, fontSize: 11, width: narrow ? 60 : 120, overflow: "truncate" }, data: this.parts.slice(0, narrow ? 4 : 8).map((r) => this.seriesName(r)) },
      tooltip: tooltip(c, ((p: { seriesIndex: number; dataIndex: number; value: number }) => {
        const region = this.parts[p.seriesIndex];
        return tip([region < 0 ? "all other regions" : clip(this.model.names[region], 90), ["rank", String(this.model.data.ranks[places[p.dataIndex]])], ["own time", time(p.value)]], region < 0 ? c.soft : this.model.colours[region]);
      }) as never),
      xAxis: axis(c, { type: "category", name: "rank", nameLocation: "middle", nameGap: 22, data: places.map((i) => String(this.model.data.ranks[i])) }),
      yAxis: axis(c, { type: "value", axisLabel: { formatter: (v: number) => time(v) } }),
      series: this.parts.map((region) => ({
        name: this.seriesName(region), type: "bar", stack: "load", barMaxWidth: 40, barCategoryGap: places.length > 40 ? "8%" : "25%",
        itemStyle: { color: region < 0 ? c.soft : this.model.colours[region], opacity: region === this.model.selected || this.model.selected < 0 ? 1 : 0.78, borderColor: c.ink, borderWidth: region === this.model.selected && region >= 0 ? 1 : 0 },
        data: places.map((i) => (region < 0 ? others.reduce((sum, r) => sum + value(r, i), 0) : value(region, i))),
      })),
    };
  }

  private seriesName(region: number): string {
    return region < 0 ? "other" : `${clip(this.model.names[region], 22)}${this.model.names.indexOf(this.model.names[region]) === region ? "" : ` (${region})`}`;
  }

  private heatRows(): number[] {
    return this.model.top((s) => s.self).slice(0, Math.min(HEAT_ROWS, this.model.topN));
  }

  private heatOption(c: Colours, width: number): Option {
    const places = this.places();
    this.shownRanks = places.map((i) => this.model.data.ranks[i]);
    this.rows = this.heatRows();
    const pick = { total: 1, own: 2, calls: 0, max: 3 }[this.metric];
    const show = (v: number) => (this.metric === "calls" ? count(v) : time(v));
    const data: { value: number[]; raw: number; mean: number }[] = [];
    this.rows.forEach((region, y) => {
      const cells = this.model.cells.get(region) ?? [];
      const values = places.map((i) => { const cell = cells[i]; return cell ? (cell[pick] ?? cell[1]) : 0; });
      const mean = values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
      values.forEach((raw, x) => data.push({ value: [x, y, this.relative ? (mean ? (100 * (raw - mean)) / mean : 0) : raw], raw, mean }));
    });
    const extreme = this.relative ? Math.max(5, ...data.map((d) => Math.abs(d.value[2]))) : Math.max(1, ...data.map((d) => d.value[2]));
    const narrow = width < 600;
    const diverging = c.isDark ? ["#3b8fd4", "#22303c", "#e08a2e"] : ["#2f6db5", "#f3f3f1", "#d1731a"];
    return {
      grid: { left: narrow ? 100 : 200, right: 14, top: 4, bottom: 78 },
      tooltip: tooltip(c, ((p: { data: { value: number[]; raw: number; mean: number } }) => {
        const region = this.rows[p.data.value[1]];
        const off = p.data.mean ? (100 * (p.data.raw - p.data.mean)) / p.data.mean : 0;
        return tip([clip(this.model.names[region], 90), ["rank", String(this.shownRanks[p.data.value[0]])], ["value", show(p.data.raw)], ["mean of ranks", show(p.data.mean)], ["against mean", `${off > 0 ? "+" : ""}${off.toFixed(1)} %`]], this.model.colours[region]);
      }) as never),
      xAxis: axis(c, { type: "category", name: "rank", nameLocation: "middle", nameGap: 22, data: this.shownRanks.map(String), splitArea: { show: false } }),
      yAxis: axis(c, { type: "category", inverse: true, data: this.rows.map((r) => clip(this.model.names[r], narrow ? 13 : 30)), axisTick: { show: false }, axisLabel: { interval: 0, hideOverlap: false, color: c.ink, width: narrow ? 92 : 190, overflow: "truncate" } }),
      visualMap: { type: "continuous", min: this.relative ? -extreme : 0, max: extreme, orient: "horizontal", left: "center", bottom: 0, itemWidth: 10, itemHeight: narrow ? 120 : 220, calculable: false, dimension: 2, text: this.relative ? [`+${extreme.toFixed(0)} %`, `−${extreme.toFixed(0)} %`] : [show(extreme), "0"], textStyle: { color: c.soft, fontSize: 11 }, inRange: { color: this.relative ? diverging : c.ramp } },
      series: [{ type: "heatmap", data, itemStyle: { borderColor: c.panel, borderWidth: this.shownRanks.length > 80 ? 0 : 1 }, emphasis: { itemStyle: { borderColor: c.ink, borderWidth: 1 } } }],
    };
  }
}
