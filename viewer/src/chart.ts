// Charts: one place that knows the library. A chart is drawn when it comes into view, again when
// theme, width or data change, and can be saved as it is.

import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import { DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapContinuousComponent } from "echarts/components";
import * as echarts from "echarts/core";
import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { download, el } from "./dom";
import { colours, onTheme, type Colours } from "./theme";

echarts.use([BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart, GridComponent, LegendComponent,
  TooltipComponent, DataZoomComponent, VisualMapContinuousComponent, MarkLineComponent, CanvasRenderer, SVGRenderer]);

export type Option = EChartsCoreOption;
export interface Pick { data: unknown; index: number; series: number }

export interface ChartSpec {
  name: string; // of saved files
  label: string; // for people who hear the page
  height(): number;
  option(colours: Colours, width: number): Option;
  click?(pick: Pick): void;
  doubleClick?(pick: Pick | null): void;
  zoom?(from: number, to: number): void; // parts 0..1 of the x axis
}

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

const pending = new Set<Chart>();
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries)
    for (const chart of pending)
      if (entry.isIntersecting && chart.box === entry.target) chart.start();
}, { rootMargin: "200px" });

export class Chart {
  readonly box: HTMLElement;
  chart: EChartsType | null = null;
  private width = 0;

  constructor(private spec: ChartSpec) {
    this.box = el("div", { class: "chart", role: "img", "aria-label": spec.label, "data-chart": spec.name, style: `height:${spec.height()}px` });
    pending.add(this);
    observer.observe(this.box);
    onTheme(() => this.redraw());
    new ResizeObserver(() => {
      const width = this.box.clientWidth;
      if (this.chart && width > 0 && Math.abs(width - this.width) > 1) this.redraw();
    }).observe(this.box);
    window.addEventListener("beforeprint", () => this.start());
  }

  start(): void {
    if (this.chart || this.box.clientWidth === 0) return;
    pending.delete(this);
    observer.unobserve(this.box);
    this.chart = echarts.init(this.box, null, { renderer: "canvas" });
    this.chart.on("click", (event) => this.spec.click?.({ data: event.data, index: event.dataIndex, series: event.seriesIndex ?? 0 }));
    this.chart.on("dblclick", (event) => this.spec.doubleClick?.({ data: event.data, index: event.dataIndex, series: event.seriesIndex ?? 0 }));
    this.chart.getZr().on("dblclick", (event) => {
      if (!event.target) this.spec.doubleClick?.(null);
    });
    this.chart.on("datazoom", () => {
      const zoom = (this.chart!.getOption() as { dataZoom?: { start: number; end: number }[] }).dataZoom?.[0];
      if (zoom) this.spec.zoom?.(zoom.start / 100, zoom.end / 100);
    });
    this.redraw();
  }

  private full(width: number): Option {
    const c = colours();
    return {
      animation: false,
      backgroundColor: "transparent",
      textStyle: { fontFamily: FONT, color: c.ink, fontSize: 12 },
      ...this.spec.option(c, width),
    };
  }

  redraw(): void {
    const height = this.spec.height();
    this.box.style.height = `${height}px`;
    if (!this.chart) return;
    this.width = this.box.clientWidth;
    this.chart.resize({ width: this.width, height });
    // The tooltip stays: it may be about to show something, and does not survive its own removal.
    this.chart.setOption(this.full(this.width), { replaceMerge: ["grid", "xAxis", "yAxis", "legend", "visualMap", "dataZoom", "series"] });
  }

  /** Changes a part without giving up the zoom. */
  patch(option: Option): void {
    this.chart?.setOption(option, { lazyUpdate: true });
  }

  zoomTo(from: number, to: number): void {
    this.chart?.dispatchAction({ type: "dataZoom", start: from * 100, end: to * 100 });
  }

  save(kind: "svg" | "png"): void {
    this.start();
    const width = this.box.clientWidth || 960;
    const option = this.chart ? { ...(this.chart.getOption() as Option), animation: false } : this.full(width);
    const c = colours();
    if (kind === "svg") {
      const copy = echarts.init(null, null, { renderer: "svg", ssr: true, width, height: this.spec.height() });
      copy.setOption({ ...this.full(width), backgroundColor: c.panel });
      const zoom = (option as { dataZoom?: { start: number; end: number }[] }).dataZoom?.[0];
      if (zoom) copy.dispatchAction({ type: "dataZoom", start: zoom.start, end: zoom.end });
      download(`${this.spec.name}.svg`, new Blob([copy.renderToSVGString()], { type: "image/svg+xml" }));
      copy.dispose();
    } else if (this.chart) {
      const url = this.chart.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: c.panel });
      const raw = atob(url.slice(url.indexOf(",") + 1));
      const bytes = Uint8Array.from(raw, (ch) => ch.charCodeAt(0));
      download(`${this.spec.name}.png`, new Blob([bytes], { type: "image/png" }));
    }
  }

  /** Two buttons that save the chart. */
  buttons(): HTMLElement {
    const one = (kind: "svg" | "png") => el("button", {
      type: "button", class: "small", title: `Save this chart as ${kind.toUpperCase()}`, "data-save": kind,
      onclick: () => this.save(kind),
    }, kind.toUpperCase());
    return el("span", { class: "save" }, one("svg"), one("png"));
  }
}

/** A tooltip of lines: the first is the heading. Texts stay texts. */
export function tip(lines: (string | [string, string])[], colour?: string): HTMLElement {
  return el("div", { class: "tip" }, lines.map((line, i) =>
    typeof line === "string"
      ? el("div", { class: i === 0 ? "tip-head" : "tip-line" }, i === 0 && colour ? el("span", { class: "swatch", style: `background:${colour}` }) : null, line)
      : el("div", { class: "tip-pair" }, el("span", {}, line[0]), el("b", {}, line[1]))));
}

export function tooltip(c: Colours, formatter: (params: never) => HTMLElement | string): Option {
  return {
    trigger: "item", confine: true, backgroundColor: c.panel, borderColor: c.line, borderWidth: 1, padding: [6, 9],
    textStyle: { color: c.ink, fontSize: 12, fontFamily: FONT }, formatter, transitionDuration: 0,
    extraCssText: "box-shadow:0 2px 10px rgba(0,0,0,.18);max-width:420px;white-space:normal",
  };
}

export function axis(c: Colours, more: Option = {}): Option {
  return {
    axisLine: { lineStyle: { color: c.line } }, axisTick: { lineStyle: { color: c.line } },
    axisLabel: { color: c.soft, fontSize: 11, hideOverlap: true, ...(more.axisLabel as object) },
    splitLine: { lineStyle: { color: c.line, opacity: 0.6 } }, nameTextStyle: { color: c.soft, fontSize: 11 },
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== "axisLabel")),
  };
}

export { echarts };
