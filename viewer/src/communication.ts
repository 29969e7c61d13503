// Calls of MPI: which operations took the time, what of it was waiting, and who sent how much to whom.

import { axis, Chart, tip, tooltip } from "./chart";
import type { RunData } from "./data";
import { el } from "./dom";
import { bytes, count, time } from "./format";
import { Section } from "./section";

function table(caption: string, heads: string[], rows: string[][]): HTMLElement {
  return el("div", { class: "scroll" }, el("table", { class: "compact" }, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));
}

function matrix(data: RunData): Chart {
  const { links } = data.mpi;
  const ranks = [...new Set([...data.ranks, ...links.filter((_, i) => i % 4 < 2)])].sort((a, b) => a - b);
  const place = new Map(ranks.map((rank, i) => [rank, i]));
  const cells: { value: number[]; messages: number }[] = [];
  for (let i = 0; i < links.length; i += 4)
    cells.push({ value: [place.get(links[i + 1])!, place.get(links[i])!, links[i + 3]], messages: links[i + 2] });
  const most = Math.max(1, ...cells.map((c) => c.value[2]));
  return new Chart({
    name: "communication", label: "Bytes sent by each rank to each other",
    height: () => Math.max(180, Math.min(560, ranks.length * 18)) + 100,
    option: (c) => ({
      grid: { left: 62, right: 16, top: 8, bottom: 92 },
      tooltip: tooltip(c, ((p: { data: { value: number[]; messages: number } }) => tip([`rank ${ranks[p.data.value[1]]} to rank ${ranks[p.data.value[0]]}`, ["sent", bytes(p.data.value[2])], ["messages", count(p.data.messages)]])) as never),
      xAxis: axis(c, { type: "category", name: "to rank", nameLocation: "middle", nameGap: 22, data: ranks.map(String) }),
      yAxis: axis(c, { type: "category", inverse: true, name: "from rank", nameLocation: "middle", nameGap: 36, data: ranks.map(String) }),
      visualMap: { type: "continuous", min: 0, max: most, orient: "horizontal", left: "center", bottom: 0, itemWidth: 10, itemHeight: 200, dimension: 2, text: [bytes(most), "0"], textStyle: { color: c.soft, fontSize: 11 }, inRange: { color: c.ramp } },
      series: [{ type: "heatmap", data: cells, itemStyle: { borderColor: c.panel, borderWidth: ranks.length > 80 ? 0 : 1 } }],
    }),
  });
}

export function communication(data: RunData): Section {
  const section = new Section("communication", "Communication", "Calls of MPI. Of collective operations, waiting is the time until the last rank had come.");
  const { operations, ranks, links } = data.mpi;
  section.add(el("div", { class: "pair" },
    table("Operations, all ranks", ["operation", "calls", "bytes", "time", "waiting"], operations.map((o) => [String(o[0]), count(o[1] as number), bytes(o[2] as number), time(o[3] as number), time(o[4] as number)])),
    table("Ranks", ["rank", "calls", "time", "waiting", "transfer"], ranks.slice(0, 64).map((r) => [String(r[0]), count(r[1]), time(r[2]), time(r[3]), time(r[4])]))));
  if (data.charts && links.length) section.chart(matrix(data));
  if (data.mpi.links_left_out) section.add(el("p", { class: "hint" }, `${count(data.mpi.links_left_out)} more pairs of ranks are left out.`));
  return section;
}
