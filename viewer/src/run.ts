// The page of one run.

import { BalanceView, DurationsView } from "./balance";
import { filterBox, frame } from "./chrome";
import { communication } from "./communication";
import type { RunData } from "./data";
import { documents } from "./documents";
import { choice, el } from "./dom";
import { FlameView } from "./flame";
import { clip, many, shortCount, time, visible } from "./format";
import { Model } from "./model";
import { findings, metadata, overview } from "./overview";
import { RegionView } from "./region";
import type { Section } from "./section";
import { StatisticsTable } from "./table";
import { TimelineView } from "./timeline";

function limits(model: Model): HTMLElement {
  let depth = 0;
  let top = model.topN;
  const deepest = Math.max(1, ...model.tree.map((n) => n.depth + 1));
  const depths: [string, string][] = [["0", "all"]];
  for (let i = 1; i <= Math.min(deepest, 12); i++) depths.push([String(i), String(i)]);
  return el("span", { class: "limits" },
    choice("Depth", depths, "0", (value) => { depth = Number(value); model.setLimits(depth, top); }),
    choice("Rows", [["10", "10"], ["30", "30"], ["100", "100"], ["500", "500"], ["100000", "all"]], String(top), (value) => { top = Number(value); model.setLimits(depth, top); }));
}

/** Which region is marked, always in sight. */
function mark(model: Model): HTMLElement {
  const name = el("bdi", {});
  const chip = el("a", { class: "mark", href: "#region", title: "The marked region; Esc takes the mark away" }, el("span", { class: "swatch" }), name);
  const show = () => {
    chip.hidden = model.selected < 0;
    if (model.selected < 0) return;
    (chip.firstChild as HTMLElement).style.background = model.colours[model.selected];
    name.textContent = clip(model.names[model.selected], 28);
  };
  model.onChange((what) => what === "selection" && show());
  show();
  return chip;
}

export function showRun(data: RunData): void {
  const model = new Model(data);
  const table = new StatisticsTable(model);
  const sections: Section[] = [overview(model), findings(model)];
  let timeline: TimelineView | null = null;
  const hasCalls = data.charts && !data.aggregate && data.num_calls > 0;
  if (hasCalls) {
    timeline = new TimelineView(model);
    sections.push(timeline.section);
  }
  sections.push(table.section);
  if (model.selected >= 0) sections.push(new RegionView(model).section);
  if (data.charts && model.tree.length > 1) sections.push(new FlameView(model).section);
  if (data.charts && model.selected >= 0) sections.push(new DurationsView(model).section);
  if (data.charts && data.ranks.length > 1 && model.selected >= 0) sections.push(new BalanceView(model).section);
  if (data.mpi.operations.length) sections.push(communication(data));
  if (data.counters.length) sections.push(documents("counters", "Hardware counters", "As LIKWID measured them, by rank.", data.counters));
  if (data.perf_events.length) sections.push(documents("events", "Perf events", "Hardware events by rank and region.", data.perf_events));
  if (data.line_profile.length) sections.push(documents("lines", "Line profile", "Line timings by rank.", data.line_profile));
  sections.push(metadata(model));
  frame({
    title: visible(data.label), subtitle: `${many(data.num_ranks, "rank")} · ${data.num_calls === 1 ? "1 call" : `${shortCount(data.num_calls)} calls`} · ${time(data.wall)}`,
    sections, exporter: data.exporter,
    controls: [filterBox("Filter: step ~halo -io self>1%", (text) => { model.setFilter(text); return model.filter.error; }), limits(model), mark(model)],
    keys: [["j k", "next, previous row of the table"], ["h l", "close, open its levels"], ["w s a d 0", "timeline: zoom, pan, whole"]],
    key: (event) => table.key(event.key) || (timeline?.key(event.key) ?? false),
    escape: () => model.select(-1),
  });
  Object.assign(window, { scopeProfiler: { model, timeline } }); // for the console and for tests
}
