// What other measuring tools left in the profile: hardware counters and line timings, as tables.

import { el } from "./dom";
import { clip } from "./format";
import { Section } from "./section";

const MOST_ROWS = 200;

type Entry = { rank: number; content: unknown };

/** Lists of records become tables, other values an indented text. */
function rowsOf(value: unknown, path: string[], out: [string[], string][]): void {
  if (out.length > MOST_ROWS) return;
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) rowsOf(inner, [...path, key], out);
  } else if (Array.isArray(value) && value.some((v) => v !== null && typeof v === "object")) {
    value.forEach((inner, i) => rowsOf(inner, [...path, String(i)], out));
  } else {
    const text = Array.isArray(value) ? value.slice(0, 64).map(number).join("  ") : number(value);
    out.push([path, text]);
  }
}

/** The content without the level that names its only rank. */
function ofRank({ rank, content }: Entry): unknown {
  const ranks = content as Record<string, unknown> | null;
  return ranks !== null && typeof ranks === "object" && Object.keys(ranks).length === 1 && String(rank) in ranks ? ranks[String(rank)] : content;
}

function number(value: unknown): string {
  return typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(6) : String(value);
}

export function documents(id: string, title: string, hint: string, entries: Entry[]): Section {
  const section = new Section(id, title, hint);
  for (const entry of entries) {
    const rows: [string[], string][] = [];
    rowsOf(ofRank(entry), [], rows);
    section.add(el("details", { open: entries.length === 1 }, el("summary", {}, `Rank ${entry.rank}`),
      el("div", { class: "scroll" }, el("table", { class: "pairs" }, el("tbody", {}, rows.slice(0, MOST_ROWS).map(([path, text]) =>
        el("tr", {}, el("th", { scope: "row" }, path.map((p) => clip(p, 60)).join(" › ")), el("td", {}, text)))))),
      rows.length > MOST_ROWS ? el("p", { class: "hint" }, `The first ${MOST_ROWS} values.`) : null));
  }
  return section;
}
