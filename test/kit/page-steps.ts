/** A step that a reader of a page takes: save a file, or run commands. */
export type PageStep =
  | { readonly kind: "file"; readonly line: number; readonly path: string; readonly text: string }
  | {
      readonly kind: "commands";
      readonly line: number;
      readonly text: string;
      /** The output that the page shows. */
      readonly output?: string;
      /** Set if the commands go on running: the text to wait for. */
      readonly until?: string;
    }
  /** Later output of commands that go on running, named by a part of them. */
  | { readonly kind: "log"; readonly line: number; readonly commands: string; readonly output: string };

const BLOCK =
  /(?:<!-- (?<mark>until|elsewhere|printed by|ts|nocheck):(?<value>[^]*?)-->\n+)?^```(?<language>\w+)[^\n]*\n(?<text>[^]*?)^```$/gm;
const FILE = /^(?:#|\/\/) (?<path>[\w./-]+\.(?:yaml|mts|ts|mjs|toml|py|sh))$/m;

/**
 * The steps of a page, in order. A block whose first line is a comment with a file name is a file; a `sh` block is commands, and a `text` block after it
 * is their output. `<!-- until: TEXT -->` marks commands that go on running, `<!-- printed by: COMMAND -->` later output of such a command, and
 * `<!-- elsewhere: REASON -->` commands that cannot run in a test.
 */
export function stepsOf(page: string): readonly PageStep[] {
  const steps: PageStep[] = [];
  let isRun = false;
  for (const { index, groups = {} } of page.matchAll(BLOCK)) {
    const { mark, value = "", language = "", text = "" } = groups;
    const line = page.slice(0, page.indexOf("```", index)).split("\n").length;
    const last = steps.at(-1);
    if (language === "sh" && mark !== "elsewhere")
      steps.push({ kind: "commands", line, text, ...(mark === "until" && { until: value.trim() }) });
    else if (mark === "printed by") steps.push({ kind: "log", line, commands: value.trim(), output: text });
    else if (language === "text" && isRun && last?.kind === "commands")
      steps[steps.length - 1] = { ...last, output: text };
    else {
      const { path } = FILE.exec(text.slice(0, text.indexOf("\n")))?.groups ?? {};
      if (path !== undefined) steps.push({ kind: "file", line, path, text });
    }
    isRun = language === "sh" && mark !== "elsewhere";
  }
  return steps;
}

/** Parts of an output that differ from run to run, each with a pattern: times, durations, and durations in JSON. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\\\.\d+Z)?/g, String.raw`[\d-]+[ T][\d:.]+Z?`],
  [/\b\d+(?:\\\.\d+)?( ?)(ms|s left)\b/g, String.raw`[\d.]+$1$2`],
  [/_ms":\d+(?:\\\.\d+)?/g, String.raw`_ms":[\d.]+`],
];

/** Ids of calls and approvals, and scores. Ids differ, and a model rounds differently depending on which texts it embeds together. */
const COMPARED = /\b(?:[0-9a-f]{32}|0\\\.\d{3})\b/g;
const TOLERANCE = 0.005;

/** A page with other outputs in place of those of some steps. */
export function withOutputs(page: string, outputs: readonly { line: number; shown: string; output: string }[]): string {
  // From the end, so that earlier lines stay where they are.
  return outputs
    .toSorted((a, b) => b.line - a.line)
    .reduce((text, { line, shown, output }) => {
      const start = text
        .split("\n")
        .slice(0, line - 1)
        .join("\n").length;
      const at = text.indexOf(`\`\`\`text\n${shown}\`\`\``, start);
      return at === -1 ? text : text.slice(0, at) + text.slice(at).replace(shown, () => output);
    }, page);
}

/** Matches any number, but not ids, which are compared by themselves. */
const NUMBER = /\b[0-9a-f]{32}\b|\d+(?:[.,]\d+)*/g;

/**
 * The output that a page should show: with the numbers that were printed, if nothing else differs, so that `…` stays; otherwise what was printed, if the
 * page leaves nothing out. Undefined if only a person can tell what to show.
 */
export function updatedOutput(shown: string, printed: string): string | undefined {
  const numbers: string[] = [];
  const free = shown.replaceAll(NUMBER, (value) => {
    if (value.length === 32) return value;
    numbers.push(value);
    return "\0";
  });
  const found = outputPattern(free).exec(`${printed.trimEnd()}\n`);
  if (found === null) return shown.includes("…") ? undefined : `${printed.trimEnd()}\n`;
  const values = found.slice(1).filter((value) => !/^[0-9a-f]{32}$/.test(value));
  let at = 0;
  return free.replaceAll("\0", () => values[at++] ?? "");
}

/**
 * Compares the output that a page shows with the one that was printed. In a page, `…` stands for any text of a line and, on a line of its own, for any lines.
 * Times and durations may differ. Returns the ids of this run by the ids on the page, or undefined if the outputs differ.
 */
export function matchOutput(shown: string, printed: string): ReadonlyMap<string, string> | undefined {
  const compared: string[] = [];
  const found = outputPattern(shown, compared).exec(`${printed.trimEnd()}\n`);
  if (found === null) return undefined;
  const pairs = compared.map((value, at) => [value, found[at + 1] ?? ""] as const);
  const isScore = ([value]: readonly [string, string]): boolean => value.length !== 32;
  if (pairs.filter(isScore).some(([one, other]) => Math.abs(Number(one) - Number(other)) > TOLERANCE)) return undefined;
  return new Map(pairs.filter((pair) => !isScore(pair)));
}

/** A pattern for the output that a page shows, which captures ids and scores, and lists them. A null character stands for any number. */
function outputPattern(shown: string, compared: string[] = []): RegExp {
  const lines = shown.trimEnd().split("\n");
  const pattern = lines.map((line) => {
    if (line.trim() === "…") return "(?:.*\n)*?";
    let text = line.trimEnd().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    for (const [varying, any] of VARYING) text = text.replaceAll(varying, any);
    text = text.replaceAll(COMPARED, (value) => {
      compared.push(value.replace("\\", ""));
      return value.length === 32 ? "([0-9a-f]{32})" : String.raw`(0\.\d{3})`;
    });
    return `${text.replaceAll("…", ".*?").replaceAll("\0", String.raw`(\d+(?:[.,]\d+)*)`)} *\n`;
  });
  return new RegExp(`^${pattern.join("")}$`);
}
