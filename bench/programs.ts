/**
 * The cost of programs: the start of one over a direct call, an inner call as a ratio to a call made without a program, and the latency of other
 * callers beside hostile programs as a ratio to an idle gateway. What is compared takes turns, so that other work on the machine hits both.
 */
import { ToolArsenal } from "../src/arsenal.ts";
import { startReadServer } from "./read-server.ts";
import { table } from "../src/cli/terminal/style.ts";

const CALLS = 200;
const ROUNDS = 15;
const STARTS = 200;
const PACED_MS = 1_000;
const PACED_ROUNDS = 8;

const server = await startReadServer(() => '{"n":1}');

const arsenal = new ToolArsenal({
  embedder: { tier: "lexical" },
  security: { maxRequestsPerMinute: 1_000_000 },
  telemetry: { enabled: false },
  programs: { calls: 100_000, parallelCalls: 32 },
});
arsenal.register(
  {
    name: "read",
    namespace: "here",
    description: "Reads.",
    parameters: { type: "object" },
    annotations: { readOnly: true, confirmed: true },
  },
  () => ({ n: 1 }),
);
await arsenal.addMcpServer({ name: "remote", transport: { kind: "http", url: server.url }, trustAnnotations: true });

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
const ms = (value: number): string => value.toFixed(2);

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Microseconds of time, and of processor time of all threads. */
interface Cost {
  readonly wall: number;
  readonly processor: number;
}

/** The thread of a program gets ready for the next one after the program has ended. This takes processor time. */
const threadIsReady = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 30));

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage();
  const wall = (await timed(work)) * 1_000;
  await threadIsReady();
  const { user, system } = process.cpuUsage(before);
  return { wall, processor: user + system };
}

async function run(code: string): Promise<void> {
  const { status, error } = await arsenal.runCode({ code });
  if (status !== "success") throw new Error(error?.message ?? status);
}

// Start
const direct: number[] = [];
const started: number[] = [];
await run("1");
for (let n = 0; n < STARTS; n++) {
  direct.push(await timed(() => arsenal.execute({ toolName: "here.read", arguments: {} })));
  started.push(await timed(() => run("await here.read()")));
  // The thread gets ready for the next program.
  await new Promise((resolve) => setTimeout(resolve, 5));
}
const startRows = [0.5, 0.95].map((share) => {
  const [one, other] = [quantile(direct, share), quantile(started, share)];
  return [`P${share * 100}`, ms(one), ms(other), ms(other - one)];
});
process.stdout.write(
  `${table([["start", "direct call, ms", "program with one call, ms", "over it, ms"], ...startRows])}\n\n`,
);

// Inner calls
interface Compared {
  readonly toolName: string;
  /** The calls without a program. */
  readonly without: "execute" | "batch";
  readonly strategy: "sequential" | "parallel";
}
const least = (costs: readonly Cost[], of: keyof Cost): number => Math.min(...costs.map((cost) => cost[of]));

async function compare({ toolName, without, strategy }: Compared): Promise<readonly string[]> {
  const calls = Array.from({ length: CALLS }, () => ({ toolName, arguments: {} }));
  const code =
    strategy === "sequential"
      ? `for (let n = 0; n < ${CALLS}; n++) await ${toolName}();`
      : `await Promise.all(Array.from({ length: ${CALLS} }, () => ${toolName}()));`;
  const plainly = async (): Promise<void> => {
    if (without === "batch") await arsenal.executeBatch({ calls, strategy });
    else for (const call of calls) await arsenal.execute(call);
  };
  const plain: Cost[] = [];
  const program: Cost[] = [];
  const empty: Cost[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    plain.push(await costOf(plainly));
    program.push(await costOf(() => run(code)));
    empty.push(await costOf(() => run("1")));
  }
  const columns = (["processor", "wall"] as const).flatMap((of) => {
    const [one, other, start] = [least(plain, of), least(program, of), least(empty, of)];
    const cost = (us: number): string => (us / CALLS).toFixed(0);
    const ratio = (us: number): string => (us / one).toFixed(2);
    return [cost(one), cost(other - start), ratio(other - start), ratio(other)];
  });
  const named = { execute: "execute, in turn", batch: `batch, ${strategy}` }[without];
  return [toolName, strategy, named, ...columns];
}

const rows: (readonly string[])[] = [];
for (const toolName of ["here.read", "remote.read"]) {
  rows.push(await compare({ toolName, without: "execute", strategy: "sequential" }));
  rows.push(await compare({ toolName, without: "batch", strategy: "sequential" }));
  rows.push(await compare({ toolName, without: "batch", strategy: "parallel" }));
}
const [plainHeader, programHeader] = ["without, µs", "in a program, µs"];
const costHeader = ["CPU", "wall"].flatMap((of) => [
  `${of}: ${plainHeader}`,
  programHeader,
  "ratio",
  "with the program's start",
]);
process.stdout.write(`${table([["tool", "calls", "compared with", ...costHeader], ...rows])}
The aim is a CPU ratio of at most 1.3 to a batch, without the start of the program: two of the three rows of each tool.
here.read is a function of this process, remote.read a tool of an MCP server over HTTP.\n\n`);

// Others beside hostile programs
async function paced(): Promise<readonly number[]> {
  const times: number[] = [];
  for (const until = performance.now() + PACED_MS; performance.now() < until;) {
    times.push(await timed(() => arsenal.execute({ toolName: "remote.read", arguments: {} })));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return times;
}
const HOSTILE: Readonly<Record<string, string>> = {
  "a loop": "for (;;);",
  "promises without end": "for (;;) await null;",
  "objects without end": "const kept = []; for (;;) kept.push({ kept });",
  "a text that doubles": "let text = 'x'; for (;;) text += text;",
  "a flood of output": "for (;;) console.log('x'.repeat(1000));",
  "a flood of calls": "for (;;) await here.read();",
};
const running = (code: string) => (signal: AbortSignal) => arsenal.runCode({ code, signal });
const groups = [
  { what: "plain calls without end", attacks: [() => arsenal.execute({ toolName: "remote.read", arguments: {} })] },
  { what: "empty programs without end", attacks: [running("1")] },
  ...Object.entries(HOSTILE).map(([what, code]) => ({ what, attacks: [running(code)] })),
  { what: "all of them at once", attacks: Object.values(HOSTILE).map(running) },
];
// Compiling the code of a call goes on in other threads for a while.
for (let round = 0; round < 5; round++) await paced();
const besideRows: string[][] = [];
for (const { what, attacks } of groups) {
  const idle: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < PACED_ROUNDS; round++) {
    idle.push(...(await paced()));
    const stop = new AbortController();
    const attackers = attacks.map(async (attack) => {
      while (!stop.signal.aborted) await attack(stop.signal);
    });
    beside.push(...(await paced()));
    stop.abort();
    await Promise.allSettled(attackers);
  }
  const columns = [0.5, 0.99].flatMap((share) => {
    const [one, other] = [quantile(idle, share), quantile(beside, share)];
    return [ms(one), ms(other), (other / one).toFixed(2)];
  });
  besideRows.push([what, ...columns]);
}
const besideHeader = ["P50 idle, ms", "beside, ms", "ratio", "P99 idle, ms", "beside, ms", "ratio"];
process.stdout.write(`${table([["calls of remote.read beside", ...besideHeader], ...besideRows])}\n`);
await arsenal.close();
server.close();
