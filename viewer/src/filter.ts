// The filter box. Words between blanks, all of which must hold; quotes keep blanks together.
//   step          names that begin with a match of the regular expression, as --include
//   ~halo         names with a match anywhere
//   -io  -~io     names without
//   tag:solver    regions with that tag
//   rank:0,4-7    only these ranks
//   calls>1000  total>1ms  self>=2%  avg<10us  max>1s    numbers of the region

export interface Numbers {
  calls: number;
  total: number;
  self: number;
  avg: number;
  max: number;
}

export interface FilterContext {
  tags: string[];
  numbers: Numbers;
  wall: number; // what percentages are of
}

export interface Filter {
  text: string;
  error: string;
  isEmpty: boolean;
  takesRank(rank: number): boolean;
  takes(name: string, context: FilterContext): boolean;
}

type Test = (name: string, context: FilterContext) => boolean;

const UNITS: Record<string, number> = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9 };

function split(text: string): string[] {
  const words: string[] = [];
  const pattern = /(?:[^\s"']+|"[^"]*"?|'[^']*'?)+/g;
  for (const match of text.match(pattern) ?? []) words.push(match.replace(/"([^"]*)"?|'([^']*)'?/g, "$1$2"));
  return words;
}

function numberTest(word: string): Test | null {
  const match = /^(calls|total|self|avg|max)(>=|<=|>|<)([\d.]+)(ns|us|µs|ms|s|min|%)?$/.exec(word);
  if (!match) return null;
  const key = match[1] as keyof Numbers;
  const amount = parseFloat(match[3]);
  const unit = match[4] ?? (key === "calls" ? "" : "s");
  return (_name, context) => {
    const limit = unit === "%" ? (amount / 100) * context.wall : unit === "" ? amount : amount * UNITS[unit];
    const value = context.numbers[key];
    switch (match[2]) {
      case ">": return value > limit;
      case "<": return value < limit;
      case ">=": return value >= limit;
      default: return value <= limit;
    }
  };
}

function nameTest(word: string): Test {
  const negative = word.startsWith("-") && word.length > 1;
  let rest = negative ? word.slice(1) : word;
  const anywhere = rest.startsWith("~");
  if (anywhere) rest = rest.slice(1);
  const pattern = new RegExp(anywhere ? rest : `^(?:${rest})`);
  return (name) => pattern.test(name) !== negative;
}

function rankSet(text: string): Set<number> {
  const set = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) throw new Error(`rank:${text} is no list of ranks, such as rank:0,4-7`);
    const last = parseInt(match[2] ?? match[1]);
    for (let rank = parseInt(match[1]); rank <= last && set.size < 100000; rank++) set.add(rank);
  }
  return set;
}

export function parseFilter(text: string): Filter {
  const tests: Test[] = [];
  let ranks: Set<number> | null = null;
  let error = "";
  for (const word of split(text)) {
    try {
      const number = numberTest(word);
      if (number) tests.push(number);
      else if (word.startsWith("tag:")) tests.push((_name, context) => context.tags.includes(word.slice(4)));
      else if (word.startsWith("rank:")) {
        if (word.length > 5) ranks = rankSet(word.slice(5));
      } else tests.push(nameTest(word));
    } catch (trouble) {
      error = trouble instanceof SyntaxError ? `'${word}' is no regular expression` : (trouble as Error).message;
    }
  }
  return {
    text, error,
    isEmpty: tests.length === 0 && ranks === null,
    takesRank: (rank) => ranks === null || ranks.has(rank),
    takes: (name, context) => tests.every((test) => test(name, context)),
  };
}

export const FILTER_HELP: [string, string][] = [
  ["step", "names that begin with a match of the regular expression, as --include"],
  ["~halo", "names with a match anywhere"],
  ["-io   -~io", "names without"],
  ["tag:solver", "regions with that tag"],
  ["rank:0,4-7", "only these ranks"],
  ["calls>1000  total>1ms  self>2%", "numbers: calls, total, self, avg, max; ns, us, ms, s, % of the wall time"],
  ['"two words"', "blanks inside a word"],
];
