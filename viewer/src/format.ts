// Numbers as text: always with a unit, three significant digits.

function digits(value: number): string {
  const size = Math.abs(value);
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return value.toFixed(decimals);
}

/** A duration in nanoseconds. */
export function time(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !isFinite(ns)) return "–";
  const size = Math.abs(ns);
  if (size === 0) return "0 s";
  if (size < 999.5) return `${size < 10 ? ns.toFixed(1) : ns.toFixed(0)} ns`;
  if (size < 999.5e3) return `${digits(ns / 1e3)} µs`;
  if (size < 999.5e6) return `${digits(ns / 1e6)} ms`;
  if (size < 600e9) return `${digits(ns / 1e9)} s`;
  const sign = ns < 0 ? "−" : "";
  const minutes = Math.floor(size / 60e9);
  if (minutes < 120) return `${sign}${minutes} min ${Math.round((size - minutes * 60e9) / 1e9)} s`;
  return `${sign}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A number of things: 1 call, 2 calls. */
export function many(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? "" : "s"}`;
}

/** Short form for narrow places: 1.2 M. */
export function shortCount(value: number): string {
  if (value < 10000) return count(value);
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]] as const)
    if (value >= size) return `${digits(value / size)}\u202f${unit}`;
  return count(value);
}

export function percent(value: number | null | undefined, decimals = 1): string {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) < 0.05) return `<\u202f0.1\u202f%`;
  return `${value.toFixed(decimals)}\u202f%`;
}

export function signedPercent(value: number | null): string {
  if (value === null || !isFinite(value)) return "–";
  return `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(1)}\u202f%`;
}

export function signedTime(ns: number | null): string {
  if (ns === null) return "–";
  return `${ns > 0 ? "+" : ns < 0 ? "−" : "±"}${time(Math.abs(ns))}`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${digits(value / 1024)} KiB`;
  if (value < 1024 ** 3) return `${digits(value / 1024 ** 2)} MiB`;
  return `${digits(value / 1024 ** 3)} GiB`;
}

/** A name for a narrow place; the middle goes. Control and direction characters become visible. */
export function clip(name: string, length: number): string {
  const shown = visible(name);
  const letters = [...shown];
  if (letters.length <= length) return shown;
  const head = Math.ceil((length - 1) * 0.6);
  return letters.slice(0, head).join("") + "…" + letters.slice(letters.length - (length - 1 - head)).join("");
}

/** A name on one line that cannot turn the direction of the text around it. */
export function visible(name: string): string {
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/g,
    (c) => (c === "\n" ? "⏎" : c === "\t" ? "⇥" : "\u{fffd}"));
}

export function ranges(values: number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < values.length; ) {
    let k = i;
    while (k + 1 < values.length && values[k + 1] === values[k] + 1) k++;
    parts.push(k > i ? `${values[i]}–${values[k]}` : `${values[i]}`);
    i = k + 1;
  }
  return parts.join(", ");
}
