// Colours of regions. They depend on the name alone, so that a region looks the same in every chart,
// run and report. Ten hues that people with any of the common colour deficiencies can tell apart
// (after Okabe and Ito, and Tol), each in three depths.

const HUES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7a1f", "#6a51a3", "#44aa99", "#aa4466"];
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

export function regionColour(name: string): string {
  if (name === "scope_profiler.session") return SESSION_COLOUR;
  const h = hash(name);
  const hue = HUES[h % HUES.length];
  const depth = Math.floor(h / HUES.length) % 3;
  return depth === 0 ? hue : depth === 1 ? mix(hue, "#ffffff", 0.28) : mix(hue, "#000000", 0.22);
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
