/** The time and memory to import three large documents, each in its own process, compared with parsing their JSON. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openapiSource } from "../src/adapters/sources/openapi/openapi.ts";
import { table } from "../src/cli/terminal/style.ts";
import { toRegistrations } from "../src/register/to-registrations.ts";
import { CORPORA, type Corpus, isPresent } from "../test/e2e/openapi-corpora.ts";

interface Measured {
  readonly tools: number;
  readonly leftOut: number;
  readonly shortened: number;
  readonly parseMs: number;
  readonly importMs: number;
  readonly peakMb: number;
  readonly medianBytes: number;
  readonly largestBytes: number;
}

async function measure({ file }: Corpus): Promise<Measured> {
  const { signal } = new AbortController();
  const began = performance.now();
  const source = openapiSource({ name: "api", document: file });
  await source.connect({ signal });
  const tools = (await toRegistrations(await source.list({ signal }), source, { now: 0 })).map(({ tool }) => tool);
  const importMs = performance.now() - began;
  const peakMb = process.resourceUsage().maxRSS / 1024;
  const bytes = tools.map((tool) => Buffer.byteLength(JSON.stringify(tool))).toSorted((a, b) => a - b);
  // The baseline comes last, so that the file is cached as after the import.
  const parsing = performance.now();
  JSON.parse(readFileSync(file, "utf8"));
  const parseMs = performance.now() - parsing;
  const isShortened = (meta: unknown): boolean => (meta as { readonly shortened?: boolean }).shortened === true;
  return {
    tools: tools.length,
    leftOut: source.problems.filter(({ skipped }) => skipped).length,
    shortened: tools.filter(({ sourceMeta }) => isShortened(sourceMeta["openapi"])).length,
    parseMs,
    importMs,
    peakMb,
    medianBytes: bytes[bytes.length >> 1] ?? 0,
    largestBytes: bytes.at(-1) ?? 0,
  };
}

const asked = CORPORA.find(({ name }) => name === process.argv[2]);
if (asked !== undefined) console.log(JSON.stringify(await measure(asked)));
else {
  const rows: (readonly (string | number)[])[] = [];
  for (const corpus of CORPORA.filter(isPresent)) {
    const runs = Array.from({ length: 3 }, () => {
      const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), corpus.name], {
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as Measured;
    });
    const [best] = runs.toSorted((a, b) => a.importMs - b.importMs);
    if (best === undefined) continue;
    const peak = Math.max(...runs.map(({ peakMb }) => peakMb));
    rows.push([
      corpus.name,
      best.tools,
      best.leftOut,
      best.shortened,
      `${best.importMs.toFixed(0)} ms`,
      `${best.parseMs.toFixed(0)} ms`,
      `${(best.importMs / best.parseMs).toFixed(1)} x`,
      `${peak.toFixed(0)} MB`,
      best.medianBytes,
      best.largestBytes,
    ]);
  }
  const head = ["", "tools", "left out", "shortened", "import", "JSON.parse", "ratio", "peak", "median B", "largest B"];
  console.log(table([head, ...rows]));
}
