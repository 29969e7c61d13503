// What the data block of a page holds; src/export/report*.c writes it, docs/FORMATS.md describes it.
// Times are nanoseconds; those of calls count from the first entry of the run.

export const FORMAT_VERSION = 1;

export interface Region {
  name: string;
  file?: string;
  line?: number;
  text?: string;
  tags?: string[];
}

export interface Finding {
  kind: "hotspot" | "imbalance" | "await" | "short";
  region: number;
  rank: number;
  calls: number;
  cost: number;
  mean: number;
  share: number;
  path: number[];
}

export interface Lane {
  rank: number;
  label: string;
  calls: number;
  covered: number;
  extent: number;
}

export interface Timeline {
  span: number;
  threshold: number;
  bin: number;
  exact: number;
  dense: number;
  deep: number;
  undrawn: number;
  calls: number[][];
  cells: number[][];
}

export interface Spread {
  region: number;
  bins: number[];
  drift: number[];
  longest: number[];
  percentiles?: number[];
}

/** calls, total, own time (null: not known), longest */
export type Cell = [number, number, number | null, number] | null;

export interface Head {
  format: string;
  format_version: number;
  exporter: string;
  charts: boolean;
  include: string[];
  exclude: string[];
  shown_columns: string[];
  ranks_chosen: boolean;
}

export interface RunData extends Head {
  kind: "run";
  label: string;
  path: string;
  file_bytes: number;
  num_ranks: number;
  ranks: number[];
  num_threads: number;
  num_tasks: number;
  num_calls: number;
  num_calls_recorded: number;
  wall: number;
  setup_to_finalize: number | null;
  covered: number;
  extent: number;
  aggregate: boolean;
  cost: { pair: number | null; pairs: number | null; drains: number | null };
  losses: { kind: string; count: number }[];
  regions: Region[];
  tree: number[];
  tree_left_out: number;
  tree_reason: string;
  matrix: (number | Cell)[][];
  table: { columns: string[]; rows: (number | null)[][]; left_out: number; flat: boolean };
  findings: Finding[];
  lanes: Lane[];
  num_lanes: number;
  timeline: Timeline;
  spreads: Spread[];
  metadata: { section: string; key: string; value: unknown }[];
  /** ranks: rank, calls, time, waiting, transfer; links: from, to, messages, bytes; operations: name, calls, bytes, time, waiting */
  mpi: { ranks: number[][]; links: number[]; links_left_out: number; operations: (string | number)[][] };
  counters: { rank: number; content: unknown }[];
  perf_events: { rank: number; content: unknown }[];
  line_profile: { rank: number; content: unknown }[];
}

export interface ComparedRun {
  label: string;
  path: string;
  link: string | null;
  ranks: number;
  nodes: number;
  threads: number;
  cores: number;
  calls: number;
  wall: number;
  timestamp: string | null;
}

export interface Change {
  name: string;
  a: number | null;
  b: number | null;
  delta: number | null;
  percent: number | null;
  low: number | null;
  high: number | null;
  confidence: number | null;
  p: number | null;
  rate: number | null;
}

export interface Changes {
  baseline: number[];
  runs: number[];
  per_rank: boolean;
  rows: Change[];
  whole: Change | null;
}

export interface ComparisonData extends Head {
  kind: "comparison";
  runs: ComparedRun[];
  /** mean over ranks of the total, longest total of a rank, calls */
  regions: { name: string; values: ([number, number, number] | null)[] }[];
  regions_left_out: number;
  changes: Changes[];
  scaling: number;
  x: number;
}

export const SESSION = "scope_profiler.session";

export interface TreeNode {
  id: number;
  parent: TreeNode | null;
  region: number;
  calls: number;
  total: number;
  own: number;
  depth: number;
  children: TreeNode[];
}

/** The tree as objects; node 0 is the root. */
export function readTree(flat: number[]): TreeNode[] {
  const root: TreeNode = { id: 0, parent: null, region: -1, calls: 0, total: 0, own: 0, depth: -1, children: [] };
  const nodes = [root];
  for (let i = 0; i + 4 < flat.length; i += 5) {
    const parent = nodes[flat[i]];
    const node: TreeNode = {
      id: nodes.length, parent, region: flat[i + 1], calls: flat[i + 2], total: flat[i + 3],
      own: flat[i + 4], depth: parent.depth + 1, children: [],
    };
    parent.children.push(node);
    nodes.push(node);
  }
  root.total = root.children.reduce((sum, child) => sum + child.total, 0);
  return nodes;
}

/** Lower edge of a bin of durations: eight for each power of two, below 8 one for each nanosecond. */
export function binEdge(bin: number): number {
  return bin < 8 ? bin : (8 + (bin % 8)) * 2 ** (Math.floor(bin / 8) - 3);
}

export function nextBin(bin: number): number {
  return bin === 7 ? 24 : bin + 1;
}

export type Report = RunData | ComparisonData;

/** The data block; throws with a sentence for people. */
export function readReport(): Report {
  const block = document.getElementById("data");
  if (!block || !block.textContent) throw new Error("This page holds no data.");
  const report = JSON.parse(block.textContent) as Report;
  if (report.format !== "scope-profiler-report") throw new Error("The data of this page is no report.");
  if (report.format_version > FORMAT_VERSION)
    throw new Error(`The data has version ${report.format_version}; this page reads up to ${FORMAT_VERSION}.`);
  return report;
}
