// Light and dark: the choice of the reader, else that of the system.

export interface Colours {
  ink: string;
  soft: string;
  line: string;
  panel: string;
  accent: string;
  worse: string;
  better: string;
  ramp: string[];
  isDark: boolean;
}

const listeners: (() => void)[] = [];
const system = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: of("--ink"), soft: of("--soft"), line: of("--line"), panel: of("--panel"), accent: of("--accent"),
    worse: of("--worse"), better: of("--better"),
    ramp: isDark() ? ["#1b2530", "#234a63", "#2b7a8c", "#5bb08f", "#d9d36a"] : ["#f4f6f4", "#c5dfd2", "#6fb3b0", "#2f7793", "#27406f"],
    isDark: isDark(),
  };
}

export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}

export function toggleTheme(): void {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("scope-profiler-theme", document.documentElement.dataset.theme);
  } catch {
    // Pages of a folder may be denied a store; then the choice holds for this visit.
  }
  tell();
}

export function initTheme(): void {
  try {
    const stored = localStorage.getItem("scope-profiler-theme");
    if (stored === "dark" || stored === "light") document.documentElement.dataset.theme = stored;
  } catch {
    // As above.
  }
  system.addEventListener("change", tell);
}
