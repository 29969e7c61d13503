// Colours of regions. They depend on names alone, so that a region looks the same in every chart and in
// every report of a program. Ten hues that people with any of the common colour deficiencies can tell apart
// (found by maximizing the least distance under either red-green blindness), each in three depths. The
// library has the same table and rule in src/base/colour.c.

const HUES = ["#09569c", "#f8a808", "#3bc39d", "#a58ffe", "#5cbed8", "#cb550c", "#b2bf6c", "#2641c9", "#865336", "#8d2a5a"];
const DEPTHS = 3;
const SESSION = "scope_profiler.session";
const SESSION_COLOUR = "#8a93a3";

// Of many seeds the one with which names that programs often have together differ in hue.
const SEED = 46965;

function hash(name: string): number {
  let h = SEED;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619);
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

function mix(colour: string, other: string, part: number): string {
  const a = channels(colour);
  const b = channels(other);
  return "#" + a.map((v, i) => Math.round(v + (b[i] - v) * part).toString(16).padStart(2, "0")).join("");
}

function slot(hue: number, depth: number): string {
  const colour = HUES[hue];
  return depth === 0 ? colour : depth === 1 ? mix(colour, "#ffffff", 0.28) : mix(colour, "#000000", 0.22);
}

export function regionColour(name: string): string {
  if (name === SESSION) return SESSION_COLOUR;
  const h = hash(name);
  return slot(h % HUES.length, Math.floor(h / HUES.length) % DEPTHS);
}

/** Colours of the regions of a program. Where its names are few enough, those that would share a hue
 * move on to the next one that is rarer; in order of the alphabet, so that the same program has the
 * same colours whatever took how long. */
export function regionColours(names: string[]): string[] {
  const distinct = [...new Set(names)].filter((name) => name !== SESSION).sort();
  if (distinct.length > HUES.length * DEPTHS) return names.map(regionColour);
  const used = HUES.map(() => [] as number[]); // depths of each hue
  const found = new Map<string, string>([[SESSION, SESSION_COLOUR]]);
  const take = (name: string, hue: number) => {
    const wanted = Math.floor(hash(name) / HUES.length) % DEPTHS;
    const depth = [0, 1, 2].map((i) => (wanted + i) % DEPTHS).find((d) => !used[hue].includes(d))!;
    used[hue].push(depth);
    found.set(name, slot(hue, depth));
  };
  for (const name of distinct) if (used[hash(name) % HUES.length].length === 0) take(name, hash(name) % HUES.length);
  for (const name of distinct) {
    if (found.has(name)) continue;
    const rarest = Math.min(...used.map((depths) => depths.length));
    let hue = hash(name) % HUES.length;
    while (used[hue].length > rarest) hue = (hue + 3) % HUES.length;
    take(name, hue);
  }
  return names.map((name) => found.get(name)!);
}

function luminance(colour: string): number {
  const [r, g, b] = channels(colour).map((v) => {
    const c = v / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever stands out more on the colour: at least 4.5 to 1 in all cases. */
export function inkOn(colour: string): string {
  const l = luminance(colour);
  return (l + 0.05) / 0.05 > 1.05 / (l + 0.05) ? "#000000" : "#ffffff";
}
