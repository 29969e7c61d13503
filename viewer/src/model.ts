// What is looked at in one run: the selected region, the filter, limits; and the sums behind them.

import { readTree, SESSION, type Cell, type RunData, type Spread, type TreeNode } from "./data";
import { parseFilter, type Filter, type Numbers } from "./filter";
import { visible } from "./format";
import { regionColours } from "./palette";

export interface RegionSums extends Numbers {
  ranks: number;
}

export class Model {
  readonly tree: TreeNode[];
  readonly names: string[]; // as they are shown, on one line
  readonly colours: string[];
  readonly spreads = new Map<number, Spread>();
  readonly cells = new Map<number, Cell[]>(); // region to one cell a rank
  readonly all: RegionSums[]; // over all ranks
  readonly session: number;
  readonly starts = new Map<number, number>(); // region to first start, for order
  filter: Filter = parseFilter("");
  selected = -1;
  maxDepth = 0; // 0: all
  topN = 100;
  private listeners: ((what: "selection" | "filter" | "limits") => void)[] = [];
  private taken: boolean[] = [];

  constructor(readonly data: RunData) {
    this.tree = readTree(data.tree);
    this.names = data.regions.map((r) => visible(r.name));
    this.colours = regionColours(data.regions.map((r) => r.name));
    this.session = data.regions.findIndex((r) => r.name === SESSION);
    for (const spread of data.spreads) this.spreads.set(spread.region, spread);
    for (const row of data.matrix) this.cells.set(row[0] as number, row.slice(1) as Cell[]);
    this.all = this.sum(() => true);
    this.apply();
    this.selected = this.hottest();
  }

  onChange(listener: (what: "selection" | "filter" | "limits") => void): void {
    this.listeners.push(listener);
  }

  private tell(what: "selection" | "filter" | "limits"): void {
    for (const listener of this.listeners) listener(what);
  }

  /** Sums of every region over the ranks that are wanted. Own time falls back to the total. */
  sum(wants: (rank: number) => boolean): RegionSums[] {
    const sums = this.data.regions.map(() => ({ calls: 0, total: 0, self: 0, avg: 0, max: 0, ranks: 0 }));
    for (const [region, cells] of this.cells) {
      const sum = sums[region];
      cells.forEach((cell, i) => {
        if (!cell || !wants(this.data.ranks[i])) return;
        sum.calls += cell[0];
        sum.total += cell[1];
        sum.self += cell[2] ?? cell[1];
        sum.max = Math.max(sum.max, cell[3]);
        sum.ranks++;
      });
      sum.avg = sum.calls ? sum.total / sum.calls : 0;
    }
    return sums;
  }

  private apply(): void {
    this.taken = this.data.regions.map((region, i) =>
      this.filter.takes(region.name, { tags: region.tags ?? [], numbers: this.all[i], wall: this.data.wall }));
  }

  takes(region: number): boolean {
    return this.taken[region] ?? true;
  }

  takesRank(rank: number): boolean {
    return this.filter.takesRank(rank);
  }

  takesDepth(depth: number): boolean {
    return this.maxDepth === 0 || depth < this.maxDepth;
  }

  /** Regions that the filter takes, by a number, largest first. */
  top(by: (sums: RegionSums) => number, withSession = false): number[] {
    const sums = this.sum((rank) => this.takesRank(rank));
    return sums.map((_, i) => i)
      .filter((i) => this.takes(i) && sums[i].calls > 0 && (withSession || i !== this.session))
      .sort((a, b) => by(sums[b]) - by(sums[a]));
  }

  private hottest(): number {
    return this.top((s) => s.self)[0] ?? -1;
  }

  select(region: number): void {
    if (region === this.selected) return;
    this.selected = region;
    this.tell("selection");
  }

  setFilter(text: string): void {
    this.filter = parseFilter(text);
    this.apply();
    this.tell("filter");
  }

  setLimits(maxDepth: number, topN: number): void {
    this.maxDepth = maxDepth;
    this.topN = topN;
    this.tell("limits");
  }

  /** Own time of all regions but the session. */
  get ownTotal(): number {
    return this.all.reduce((sum, s, i) => sum + (i === this.session ? 0 : s.self), 0);
  }
}
