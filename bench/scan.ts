/**
 * Prints the cost of a scan, next to JSON.stringify of the same text, and how well rules and suspicious wording distinguish attacks from ordinary
 * text in your files. `--cases F.jsonl` has lines `{"text", "label": "malicious" | "benign"}`, optionally with `kind` and `split`; `--tools F` has
 * harmless tools, one per line or `{"tools": […]}`.
 */
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { parseArgs } from "node:util";
import { wordingScanner } from "../src/adapters/scanners/wording/wording.ts";
import { table } from "../src/cli/terminal/style.ts";
import { createInspection } from "../src/guard/scan/inspection.ts";
import type { TextPlace } from "../src/guard/scan/finding.ts";
import { normaliseText } from "../src/guard/scan/hidden/normalise-text.ts";
import { createScanner } from "../src/guard/scan/scanner.ts";
import { toolTexts } from "../src/guard/scan/texts/tool-texts.ts";
import { sampleTools } from "../src/testing/sample-tools.ts";

const { values } = parseArgs({
  options: { cases: { type: "string", multiple: true }, tools: { type: "string", multiple: true } },
});
const wording = wordingScanner();
const rulesOnly = createScanner({ mode: "flag" });
const scanner = createScanner({ mode: "flag", scanners: [wording] });
/** Returns whether suspicious wording alone flags a text, without hidden characters. */
const isSuspicious = (text: string, place?: TextPlace): boolean =>
  wording.scan(normaliseText(text).text, place).length > 0;

const SENTENCES = [
  ...sampleTools().map(({ description }) => description),
  "Returns up to `limit` rows, newest first. The user must own the project; otherwise the answer is empty.",
  '{"id": 1042, "status": "paid", "note": "Sent the invoice to the customer on Monday, see https://shop.example/i/1042"}',
  "Before you call this, read the settings of the workspace. Never send more than ten requests a second.",
];
/** Returns ordinary text, different in every round. */
function ordinary(length: number, round: number): string {
  let text = "";
  for (let index = round; text.length < length; index++)
    text += `${SENTENCES[(index * 7) % SENTENCES.length]} ${index}\n`;
  return text.slice(0, length);
}

const [tool] = sampleTools();
if (tool === undefined) throw new Error("There are no sample tools.");
const { result } = createInspection({
  settings: { arguments: "off", results: "neutralise", severity: "high", onFailure: "deny" },
  emit: () => {},
  scanners: [wording],
});
const tasks: readonly (readonly [name: string, length: number, task: (text: string) => unknown])[] = [
  ["JSON.stringify, 4 KB", 4096, (text) => JSON.stringify(text)],
  ["rules, 4 KB", 4096, (text) => rulesOnly.scanText(text, "result")],
  ["wording, 4 KB", 4096, (text) => wording.scan(text, "result")],
  ["scan, 4 KB", 4096, (text) => scanner.scanText(text, "result")],
  ["result neutralised, 4 KB", 4096, (text) => result(tool, { content: [{ type: "text", text }] })],
  ["scan, 64 KB", 65_536, (text) => scanner.scanText(text, "result")],
];

const ROUNDS = 500;
const WARM_UP = 50;
const times = new Map<string, number[]>(tasks.map(([name]) => [name, []]));
for (let round = 0; round < ROUNDS + WARM_UP; round++) {
  for (const [name, length, task] of tasks) {
    if (length > 4096 && round % 10 > 0) continue;
    const text = ordinary(length, round);
    const began = performance.now();
    task(text);
    if (round >= WARM_UP) times.get(name)?.push(performance.now() - began);
  }
}
const at = (name: string, share: number): number => {
  const sorted = (times.get(name) ?? []).toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
};
const base = at("JSON.stringify, 4 KB", 0.5);
const rows = tasks.map(([name]) => [
  name,
  `${at(name, 0.5).toFixed(3)} ms`,
  `${at(name, 0.99).toFixed(3)} ms`,
  `${(at(name, 0.5) / base).toFixed(0)} x`,
]);
console.log(table([["", "p50", "p99", "to JSON.stringify of 4 KB"], ...rows]));

/** Reads the lines of a file, or the tools of a file that is one document. */
function read(path: string): readonly Record<string, unknown>[] {
  const text = readFileSync(path, "utf8");
  try {
    const whole = JSON.parse(text) as { readonly tools?: readonly Record<string, unknown>[] };
    if (Array.isArray(whole.tools)) return whole.tools;
  } catch {
    // Several documents, one per line.
  }
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

type CaseLine = Readonly<Record<string, unknown>>;

/** The numbers of harmful and harmless texts flagged: by rules, by suspicious wording, by either. */
interface Count {
  harmful: number;
  harmless: number;
  readonly flagged: Record<"harmful" | "harmless", { rules: number; wording: number; both: number }>;
}
const counts = new Map<string, Count>();

function count(name: string, label: "harmful" | "harmless", byRules: boolean, byWording: boolean): void {
  const none = { rules: 0, wording: 0, both: 0 };
  const sum = counts.get(name) ?? { harmful: 0, harmless: 0, flagged: { harmful: { ...none }, harmless: { ...none } } };
  counts.set(name, sum);
  sum[label]++;
  const found = sum.flagged[label];
  if (byRules) found.rules++;
  if (byWording) found.wording++;
  if (byRules || byWording) found.both++;
}

/** False for texts that the wording scanner was trained on: those written for this project, which have a split. */
const isUnseen = ({ split }: CaseLine): boolean => split === undefined;

function placeOf(kind: unknown): TextPlace | undefined {
  if (typeof kind !== "string") return undefined;
  return kind === "tool_result" ? "result" : "definition";
}

for (const path of values.cases ?? [])
  for (const line of read(path)) {
    const { text, label, kind, language = "en" } = line;
    const trained = isUnseen(line) ? "" : ", trained on";
    const group = `${basename(path, ".jsonl")}${typeof kind === "string" ? ` ${kind}` : ""}${trained}`;
    const side = label === "malicious" ? "harmful" : "harmless";
    const [given, place] = [String(text), placeOf(kind)];
    const flagged = [rulesOnly.scanText(given, place).flagged, isSuspicious(given, place)] as const;
    count(group, side, ...flagged);
    if (trained === "" && language !== "en") count(`${basename(path, ".jsonl")}, not English`, side, ...flagged);
  }
for (const path of values.tools ?? [])
  for (const each of read(path)) {
    const { description } = each;
    const name = basename(dirname(path));
    count(
      `${name}, whole tools`,
      "harmless",
      rulesOnly.scanTool(each).flagged,
      toolTexts(each).some((part) => isSuspicious(part.text, "definition")),
    );
    if (typeof description !== "string" || description === "") continue;
    const byRules = rulesOnly.scanText(description, "definition").flagged;
    const byWording = isSuspicious(description, "definition");
    count(`${name}, descriptions`, "harmless", byRules, byWording);
  }

if (counts.size > 0) {
  const shares = (found: { rules: number; wording: number; both: number }, of: number): readonly string[] =>
    [found.rules, found.wording, found.both].map((part) => (of === 0 ? "" : `${((100 * part) / of).toFixed(2)} %`));
  const heads = ["rules", "wording", "both"];
  console.log(
    table([
      ["", "harmful", ...heads, "harmless", ...heads],
      ...[...counts].map(([name, { harmful, harmless, flagged }]) => [
        name,
        String(harmful),
        ...shares(flagged.harmful, harmful),
        String(harmless),
        ...shares(flagged.harmless, harmless),
      ]),
    ]),
  );
}
