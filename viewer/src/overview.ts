// The headline figures and the findings.

import type { Finding } from "./data";
import { el, swatch } from "./dom";
import { bytes, clip, count, many, percent, ranges, shortCount, time } from "./format";
import type { Model } from "./model";
import { Section } from "./section";

function figure(name: string, value: string, note = "", kind = ""): HTMLElement {
  return el("div", { class: `figure ${kind}` }, el("dt", {}, name), el("dd", {}, value, note ? el("small", {}, note) : null));
}

function cost(model: Model): HTMLElement {
  const { pair, pairs, drains } = model.data.cost;
  if (pairs === null || pair === null) return figure("Recording cost", "–", "the profile does not say", "unknown");
  const all = pairs + (drains ?? 0);
  const share = model.data.extent ? (100 * all) / model.data.extent : null;
  return figure("Recording cost", time(all), `${share === null ? "" : `${percent(share)} · `}${pair.toFixed(0)} ns a call`);
}

function losses(model: Model): HTMLElement {
  const lost = model.data.losses;
  if (lost.length === 0) return figure("Losses", "none", "every call is in");
  const sum = lost.reduce((n, l) => n + l.count, 0);
  return figure("Losses", count(sum), lost.map((l) => `${l.kind.replace(/_/g, " ")} ${count(l.count)}`).join(", "), "bad");
}

export function overview(model: Model): Section {
  const d = model.data;
  const section = new Section("overview", "Overview");
  const inside = d.extent ? percent((100 * d.covered) / d.extent) : "–";
  const filtered = d.num_calls !== d.num_calls_recorded;
  const figures = el("dl", { class: "figures" },
    figure("Wall time", time(d.wall), d.setup_to_finalize ? `${time(d.setup_to_finalize)} setup to finalize` : d.aggregate ? "longest region: the run kept totals" : "first entry to last exit"),
    figure("Ranks", count(d.num_ranks), d.ranks_chosen ? `shown: ${ranges(d.ranks)}` : ""),
    figure("Threads", count(d.num_threads), d.num_tasks ? many(d.num_tasks, "task") : ""),
    figure("Calls", shortCount(d.num_calls), filtered ? `of ${count(d.num_calls_recorded)} recorded` : many(d.regions.length, "region")),
    figure("Inside regions", d.aggregate ? "–" : inside, d.aggregate ? "not known of totals" : "of the time of all lanes"),
    cost(model), losses(model));
  section.add(figures);
  return section;
}

const KINDS: Record<Finding["kind"], string> = {
  hotspot: "Hotspot", imbalance: "Imbalance", await: "Waiting", short: "Too short",
};

function sentence(model: Model, finding: Finding): (Node | string)[] {
  const share = percent(100 * finding.share);
  switch (finding.kind) {
    case "hotspot":
      return [`${time(finding.cost)} own time in ${many(finding.calls, "call")}`];
    case "imbalance":
      return [`rank ${finding.rank} takes ${time(finding.cost)} longer than the mean rank (${time(finding.mean)}); the others wait ${share} of the run for it`];
    case "await":
      return [`${time(finding.cost)} suspended in await, ${share} of its time: others ran meanwhile`];
    case "short":
      return [`${count(finding.calls)} calls of ${time(finding.mean)} each, of which recording is about ${share}: measure a larger region, or record it sampled`];
  }
  return [String(model.data.label)];
}

function card(model: Model, finding: Finding): HTMLElement {
  const name = model.names[finding.region];
  const path = finding.path.length > 1 ? finding.path.slice(0, -1).filter((r) => r !== model.session).map((r) => clip(model.names[r], 24)).join(" › ") : "";
  const amount = finding.kind === "hotspot" ? percent(100 * finding.share) : time(finding.cost);
  return el("button", {
    type: "button", class: `finding ${finding.kind}`, "data-region": finding.region, onclick: () => model.select(finding.region),
  },
  el("span", { class: "kind" }, KINDS[finding.kind]),
  el("span", { class: "amount" }, amount),
  el("span", { class: "what" }, swatch(model.colours[finding.region]), el("bdi", { title: name }, clip(name, 60))),
  el("span", { class: "why" }, path ? el("span", { class: "path" }, `in ${path} · `) : null, sentence(model, finding)));
}

export function findings(model: Model): Section {
  const section = new Section("findings", "Findings", "Where acting pays off. A click marks the region everywhere.");
  const list = el("div", { class: "findings" });
  const d = model.data;
  for (const finding of d.findings) list.appendChild(card(model, finding));
  const loose = d.extent ? 1 - d.covered / d.extent : 0;
  if (loose > 0.2 && !d.aggregate && d.extent)
    list.appendChild(el("div", { class: "finding note" }, el("span", { class: "kind" }, "Unmarked"), el("span", { class: "amount" }, percent(100 * loose)),
      el("span", { class: "why" }, `${time(d.extent - d.covered)} of the time of the lanes lies in no region: threads that idle, or parts of the program that are not marked`)));
  for (const loss of d.losses)
    list.appendChild(el("div", { class: "finding bad" }, el("span", { class: "kind" }, "Loss"), el("span", { class: "amount" }, count(loss.count)),
      el("span", { class: "why" }, `${loss.kind.replace(/_/g, " ")}: the figures of this page lack them`)));
  if (!list.firstChild) {
    const why = d.num_calls === 0
      ? "Nothing was recorded: no region was entered, the filter matches nothing, or profiling was off."
      : "Nothing stands out: no region dominates, the ranks are even, no region is too short to trust.";
    list.appendChild(el("p", { class: "empty" }, why));
  }
  model.onChange((what) => {
    if (what === "selection") mark();
  });
  function mark(): void {
    for (const card of list.querySelectorAll<HTMLElement>("[data-region]"))
      card.classList.toggle("marked", Number(card.dataset.region) === model.selected);
  }
  mark();
  section.add(list);
  return section;
}

export function metadata(model: Model): Section {
  const section = new Section("metadata", "Metadata");
  const d = model.data;
  const groups = new Map<string, [string, string][]>();
  groups.set("File", [["path", d.path || "in memory"], ["size", d.file_bytes ? bytes(d.file_bytes) : "–"], ["written by", d.exporter]]);
  for (const order of ["Run", "System", "Parallelism", "Slurm", "Environment", "Other"])
    for (const entry of d.metadata)
      if (entry.section === order) {
        if (!groups.has(order)) groups.set(order, []);
        const value = entry.value;
        groups.get(order)!.push([entry.key, Array.isArray(value) ? value.join("\n") : String(value)]);
      }
  for (const [title, entries] of groups)
    section.add(el("details", { open: title !== "Environment" && title !== "Slurm" }, el("summary", {}, `${title} (${entries.length})`),
      el("table", { class: "pairs" }, el("tbody", {}, entries.map(([key, value]) => el("tr", {}, el("th", { scope: "row" }, key), el("td", {}, el("bdi", {}, value))))))));
  return section;
}
