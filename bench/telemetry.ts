/**
 * The cost of telemetry: calls with everything on (traces, logs and metrics by OTLP, history, console at warn) against the same calls with
 * telemetry off, in alternating rounds. First with a good collector, then with some that are down, slow or hostile. Collectors and clients
 * are processes of their own, so that the CPU time is the arsenal's alone. Every figure is that of the best round: other load
 * only adds to it. One line for each collector, and a last one with the aims met and missed.
 *
 *     node --expose-gc bench/telemetry.ts [calls [collectors [gateway|library]]]        10,000 and all by default; names between commas
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { consoleSink } from "../src/adapters/sinks/console.ts";
import { ToolArsenal } from "../src/index.ts";

const ROUNDS = 10;
const WARM_UP = 8000;
/** Longer than the history batches records. */
const SETTLE_MS = 1100;

type Treat = (incoming: IncomingMessage, response: ServerResponse) => void;

/** How collectors treat requests. */
const COLLECTORS: Readonly<Record<string, Treat | undefined>> = {
  good: (incoming, response) => incoming.on("end", () => response.writeHead(200).end()),
  down: undefined,
  hanging: () => {},
  failing: (_, response) => response.writeHead(500).end(),
  slow: (_, response) => void setTimeout(() => response.writeHead(200).end(), 2000),
  busy: (_, response) => response.writeHead(503, { "retry-after": "1" }).end(),
  garbage: (incoming) => incoming.socket.end("\u0000 garbage\r\n\r\n"),
  closes: (incoming) => incoming.socket.destroy(),
};

/** A child process: listens as a collector and reports its port. */
async function runCollector(name: string): Promise<void> {
  const server = createServer((incoming, response) => {
    incoming.on("error", () => {});
    response.on("error", () => {});
    incoming.resume();
    COLLECTORS[name]?.(incoming, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  if (COLLECTORS[name] === undefined) server.close();
  process.send?.(`http://127.0.0.1:${port}`);
  process.on("disconnect", () => process.exit());
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A child process: calls a gateway's tool as often as requested, sequentially, and reports the duration of each call. */
function runClient(): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const params = { name: "double", arguments: { x: 21 }, _meta: META };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": Buffer.byteLength(body),
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "double",
  };
  const call = (url: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}/mcp`, { method: "POST", agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`status ${answer.statusCode}`));
        answer.resume().on("end", resolve);
      });
      sent.on("error", reject).end(body);
    });
  process.on("message", async ({ url, calls }: { url: string; calls: number }) => {
    const times: number[] = [];
    for (let at = 0; at < calls; at++) {
      const from = performance.now();
      await call(url);
      times.push(performance.now() - from);
    }
    process.send?.(times);
  });
  process.on("disconnect", () => process.exit());
}

interface Child {
  ask<Answer>(message?: object): Promise<Answer>;
  end(): void;
}

function child(...args: readonly string[]): Child {
  const started = fork(fileURLToPath(import.meta.url), [...args]);
  return {
    async ask(message) {
      const answered = once(started, "message");
      if (message !== undefined) started.send(message);
      return (await answered)[0];
    },
    end: () => started.disconnect(),
  };
}

/** Discards lines: sinks report failing collectors, and the terminal is for the table. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });

function arsenalFor(endpoint: string | undefined): ToolArsenal {
  const telemetry =
    endpoint === undefined
      ? { enabled: false, history: { enabled: false } }
      : { type: "opentelemetry" as const, otlp: { endpoint }, history: { enabled: true } };
  const sinks = endpoint === undefined ? [] : [consoleSink({ level: "warn", format: "json", stream: nowhere() })];
  const security = { pins: "off", maxRequestsPerMinute: 1_000_000 } as const;
  const arsenal = new ToolArsenal({ telemetry, security, embedder: { tier: "lexical" }, environment: {}, sinks });
  const parameters = { type: "object", properties: { x: { type: "number" } }, required: ["x"] } as const;
  arsenal.register({ name: "double", description: "Doubles a number.", parameters }, ({ x }) => x * 2);
  return arsenal;
}

/** Makes calls, and reports the duration of each in milliseconds. */
interface Caller {
  run(calls: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Through the gateway: an MCP request over HTTP each. */
async function gateway(endpoint: string | undefined, client: Child): Promise<Caller> {
  const arsenal = arsenalFor(endpoint);
  const served = await arsenal.serve({ port: 0, mode: "static" });
  return {
    run: (calls) => client.ask({ url: served.url, calls }),
    async close() {
      await served.close();
      await arsenal.close();
    },
  };
}

/** In this process, with a tool that returns at once, so that nothing hides the cost of telemetry. */
async function library(endpoint: string | undefined): Promise<Caller> {
  const arsenal = arsenalFor(endpoint);
  return {
    async run(calls) {
      const times: number[] = [];
      for (let at = 0; at < calls; at++) {
        const from = performance.now();
        await arsenal.execute({ toolName: "double", arguments: { x: 21 } });
        times.push(performance.now() - from);
      }
      return times;
    },
    close: () => arsenal.close(),
  };
}

/** The value below which a share of the numbers lies. */
const percentile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length * share)] ?? 0;
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

interface Round {
  /** Microseconds of CPU time per call. */
  readonly cpu: number;
  readonly total: number;
  readonly p50: number;
  readonly p95: number;
}

interface RoundRatios {
  readonly cpuOff: number;
  readonly cpuOn: number;
  /** On against off: calls per second, and per second of CPU time. 1 means no cost. */
  readonly rate: number;
  readonly cpuRate: number;
  /** On against off. 1 means no delay. */
  readonly p50: number;
  readonly p95: number;
  readonly heapMb: number;
}

/** Off and on in turns, so that load on the machine affects both. */
async function compare(off: Caller, on: Caller, calls: number): Promise<RoundRatios> {
  for (const each of [off, on]) await each.run(WARM_UP);
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const rounds = new Map<Caller, Round[]>([
    [off, []],
    [on, []],
  ]);
  const count = Math.ceil(calls / ROUNDS);
  for (let round = 0; round < ROUNDS; round++)
    for (const each of round % 2 === 0 ? [off, on] : [on, off]) {
      globalThis.gc?.();
      const before = process.cpuUsage();
      const times = await each.run(count);
      // Deferred work of calls is part of their cost.
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      const { user, system } = process.cpuUsage(before);
      const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
      rounds.get(each)?.push({ cpu: (user + system) / count, total: sum(times), p50, p95 });
    }
  globalThis.gc?.();
  const heapMb = (process.memoryUsage().heapUsed - heapBefore) / 1_048_576;
  const least = (caller: Caller, key: keyof Round): number =>
    Math.min(...(rounds.get(caller) ?? []).map((round) => round[key]));
  const ratio = (key: keyof Round): number => least(on, key) / least(off, key);
  return {
    cpuOff: least(off, "cpu"),
    cpuOn: least(on, "cpu"),
    rate: 1 / ratio("total"),
    cpuRate: 1 / ratio("cpu"),
    p50: ratio("p50"),
    p95: ratio("p95"),
    heapMb,
  };
}

interface Aim {
  readonly what: string;
  readonly kind: "gateway" | "library";
  readonly isMet: (figures: RoundRatios) => boolean;
  /** The collectors that it applies to. Defaults to all. */
  readonly of?: "good";
}

const AIMS: readonly Aim[] = [
  { what: "calls/s at least 0.85", kind: "gateway", of: "good", isMet: ({ rate }) => rate >= 0.85 },
  { what: "calls per CPU second at least 0.85", kind: "gateway", of: "good", isMet: ({ cpuRate }) => cpuRate >= 0.85 },
  { what: "P50 at most 1.10", kind: "gateway", isMet: ({ p50 }) => p50 <= 1.1 },
  { what: "P95 at most 1.10", kind: "gateway", isMet: ({ p95 }) => p95 <= 1.1 },
  { what: "heap grown by at most 16 MB", kind: "gateway", isMet: ({ heapMb }) => heapMb <= 16 },
  { what: "P50 at most 1.10", kind: "library", isMet: ({ p50 }) => p50 <= 1.1 },
  { what: "20 µs of CPU time more at most", kind: "library", isMet: ({ cpuOn, cpuOff }) => cpuOn - cpuOff <= 20 },
  { what: "heap grown by at most 16 MB", kind: "library", isMet: ({ heapMb }) => heapMb <= 16 },
];

/** `met: …; missed: …`, each missed aim with the collectors that it was missed with. */
function verdict(measured: readonly (RoundRatios & { readonly kind: string; readonly collector: string })[]): string {
  const judged = AIMS.flatMap(({ what, kind, of, isMet }) => {
    const about = measured.filter((one) => one.kind === kind && (of === undefined || one.collector === of));
    const missed = about.filter((one) => !isMet(one)).map(({ collector }) => collector);
    return about.length === 0 ? [] : [{ what: `${kind} ${what}`, missed }];
  });
  const met = judged.filter(({ missed }) => missed.length === 0).map(({ what }) => what);
  const missed = judged.flatMap((aim) => (aim.missed.length > 0 ? [`${aim.what} (${aim.missed.join(", ")})`] : []));
  return `Aims met: ${met.join("; ") || "none"}. Missed: ${missed.join("; ") || "none"}.`;
}

const COLUMNS = [
  "calls",
  "collector",
  "CPU µs off",
  "CPU µs on",
  "calls/s",
  "calls per CPU s",
  "P50",
  "P95",
  "heap MB",
];
const line = (cells: readonly string[]): string =>
  cells.map((cell, at) => cell.padEnd(Math.max(7, (COLUMNS[at] ?? "").length) + 2)).join("");

async function main(calls: number, names: readonly string[], kinds?: string): Promise<void> {
  const measured: (RoundRatios & { readonly kind: string; readonly collector: string })[] = [];
  const client = child("client");
  console.log(
    "On against off, of the best rounds. calls/s and calls per CPU s: 1 is no cost. P50 and P95: 1 is no delay.",
  );
  console.log(line(COLUMNS));
  for (const kind of ["gateway", "library"] as const)
    for (const name of names) {
      if (kinds !== undefined && kinds !== kind) continue;
      const collector = child("collector", name);
      const endpoint = await collector.ask<string>();
      const make = kind === "gateway" ? gateway : library;
      const [off, on] = [await make(undefined, client), await make(endpoint, client)];
      const figures = await compare(off, on, calls);
      await Promise.all([off.close(), on.close()]);
      collector.end();
      measured.push({ kind, collector: name, ...figures });
      const { cpuOff, cpuOn, rate, cpuRate, p50, p95, heapMb } = figures;
      const cells = [...[cpuOff, cpuOn].map((micros) => micros.toFixed(1)), ...[rate, cpuRate, p50, p95].map(toRatio)];
      console.log(line([kind, name, ...cells, heapMb.toFixed(1)]));
    }
  client.end();
  console.log(verdict(measured));
}

const toRatio = (number: number): string => number.toFixed(2);

const [role = "10000", name = "", kind] = process.argv.slice(2);
if (role === "collector") await runCollector(name);
else if (role === "client") runClient();
else await main(Number(role), name === "" ? Object.keys(COLLECTORS) : name.split(","), kind);
