/**
 * What a scan costs, beside writing the same text as JSON, and how well it tells attacks from ordinary text in files of yours:
 * `--cases F.jsonl` has lines `{"text", "label": "malicious" | "benign"}`; `--tools F` has harmless tools, a line each or `{"tools": […]}`.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { table } from "../src/cli/style.ts";
import { createInspection } from "../src/guard/scan/inspection.ts";
import { createScanner } from "../src/guard/scan/scanner.ts";
import { sampleTools } from "../src/testing/sample-tools.ts";

const { values } = parseArgs({
  options: { cases: { type: "string", multiple: true }, tools: { type: "string", multiple: true } },
});
const scanner = createScanner({ mode: "flag" });

const SENTENCES = [
  ...sampleTools().map(({ description }) => description),
  "Returns up to `limit` rows, newest first. The user must own the project; otherwise the answer is empty.",
  '{"id": 1042, "status": "paid", "note": "Sent the invoice to the customer on Monday, see https://shop.example/i/1042"}',
  "Before you call this, read the settings of the workspace. Never send more than ten requests a second.",
];
/** Ordinary text, other in every round. */
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
});
const tasks: readonly (readonly [name: string, length: number, task: (text: string) => unknown])[] = [
  ["JSON.stringify, 4 KB", 4096, (text) => JSON.stringify(text)],
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

const share = (part: number, of: number): string =>
  `${part} of ${of}, ${((100 * part) / Math.max(1, of)).toFixed(1)} %`;

/** The lines of a file, or the tools of one that is a single document. */
function read(path: string): readonly Record<string, unknown>[] {
  const text = readFileSync(path, "utf8");
  try {
    const whole = JSON.parse(text) as { readonly tools?: readonly Record<string, unknown>[] };
    if (Array.isArray(whole.tools)) return whole.tools;
  } catch {
    // Several documents, a line each.
  }
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

for (const path of values.cases ?? []) {
  const counts = { malicious: [0, 0], benign: [0, 0] };
  for (const { text, label } of read(path)) {
    const count = counts[label === "malicious" ? "malicious" : "benign"];
    count[0] = (count[0] ?? 0) + (scanner.scanText(String(text)).flagged ? 1 : 0);
    count[1] = (count[1] ?? 0) + 1;
  }
  const [found = 0, attacks = 0] = counts.malicious;
  const [false_ = 0, harmless = 0] = counts.benign;
  console.log(`${path}: found ${share(found, attacks)}; false alarms ${share(false_, harmless)}`);
}
for (const path of values.tools ?? []) {
  const tools = read(path);
  console.log(
    `${path}: false alarms ${share(tools.filter((each) => scanner.scanTool(each).flagged).length, tools.length)}`,
  );
}
