/** A program that has just started, of `bench/growth.ts`: from the import to the first answer. Prints JSON. */
import { internalsOf } from "../src/arsenal.ts";
import type { TierName } from "../src/adapters/embedders/shipped-tiers.ts";
import type { ToolArsenal } from "../src/arsenal.ts";

/** The input of the process. */
export interface ColdStartTask {
  readonly tier: TierName;
  /** A file of tools, and a folder of vectors. */
  readonly snapshot: string;
  readonly cache: string;
  /** The library's import path. */
  readonly library: string;
  /** Writes the snapshot of this many tools instead of measuring. */
  readonly write?: number;
}

/** The measurements, in milliseconds since the first line of the process. */
export interface ColdStartAnswer {
  readonly tier: TierName;
  readonly importedMs: number;
  readonly answeredMs: number;
  readonly answeredBy: string;
  /** The first answer of the tier itself. */
  readonly settledMs: number;
  readonly settledBy: string;
}

const started = performance.now();
const [given] = process.argv.slice(2);
if (given !== undefined) {
  const task = JSON.parse(given) as ColdStartTask;
  if (task.write === undefined) process.stdout.write(`${JSON.stringify(await measure(task))}\n`);
  else await write(task, task.write);
}

async function open({ library, tier, snapshot, cache }: ColdStartTask): Promise<ToolArsenal> {
  const { ToolArsenal: Library } = (await import(library)) as { readonly ToolArsenal: typeof ToolArsenal };
  return new Library({ telemetry: { enabled: false }, vectorStore: { snapshot }, embedder: { tier, cache } });
}

async function measure(task: ColdStartTask): Promise<ColdStartAnswer> {
  const query = { context: { query: "can you list the invoices of acme" } };
  await using arsenal = await open(task);
  const importedMs = performance.now() - started;
  const first = await arsenal.retrieve(query);
  const answeredMs = performance.now() - started;
  await internalsOf(arsenal).settled({ tier: task.tier });
  const settled = await arsenal.retrieve(query);
  const settledMs = performance.now() - started;
  return { tier: task.tier, importedMs, answeredMs, answeredBy: first.tier, settledMs, settledBy: settled.tier };
}

async function write(task: ColdStartTask, tools: number): Promise<void> {
  const { syntheticTools } = await import("../src/cli/benchmark/synthetic-tools.ts");
  await using arsenal = await open(task);
  await arsenal.add(syntheticTools(tools).map((tool) => ({ tool })));
  await arsenal.sync();
}
