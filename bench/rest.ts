/** The cost of REST: searches and calls over the gateway, in the same process without it, and a bare Hono route with the same bytes. See bench/README.md. */
import { type ChildProcess, fork } from "node:child_process";
import { Agent, request } from "node:http";
import { parseArgs } from "node:util";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { ToolArsenal } from "../src/index.ts";

type Operation = "search" | "execute";
type Contender = "in process" | "REST" | "bare Hono";

/** The requests to the measured process, and its responses. */
type Order = { readonly loop: Operation; readonly ms: number } | "cpu";
interface Started {
  readonly urls: Readonly<Record<Exclude<Contender, "in process">, string>>;
}
interface Measured {
  readonly calls: number;
  readonly seconds: number;
  readonly cpuMs: number;
}

const BODIES = {
  search: { context: { query: "refund the order of a customer" }, limit: 5 },
  execute: { toolName: "shop.tool_7", arguments: { id: "A-1042" } },
} as const;

const TOPICS = [
  "orders",
  "invoices",
  "parcels",
  "customers",
  "coupons",
  "reviews",
  "returns",
  "stock",
  "staff",
  "taxes",
];
const VERBS = ["List", "Create", "Cancel", "Refund", "Archive", "Export"];

/** Three hundred tools, each with a function that does nothing: only the path to it is measured. */
function createArsenal(): ToolArsenal {
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    embedder: { tier: "lexical" },
    security: { maxRequestsPerMinute: 1_000_000 },
  });
  for (let index = 0; index < 300; index += 1) {
    const [verb, topic] = [VERBS[index % VERBS.length], TOPICS[index % TOPICS.length]];
    arsenal.register(
      {
        name: `tool_${index}`,
        namespace: "shop",
        description: `${verb}s ${topic} of the shop, kind ${index}.`,
        parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
      },
      ({ id }) => ({ id, done: true }),
    );
  }
  return arsenal;
}

async function measured(): Promise<void> {
  const arsenal = createArsenal();
  const gateway = await arsenal.serve({ port: 0 });
  const run = (operation: Operation): Promise<unknown> =>
    operation === "search" ? arsenal.retrieve(BODIES.search) : arsenal.execute(BODIES.execute);
  const bytes = { search: JSON.stringify(await run("search")), execute: JSON.stringify(await run("execute")) };
  const app = new Hono();
  for (const operation of ["search", "execute"] as const)
    app.post(`/api/v1/${operation}`, async (context) => {
      await context.req.json();
      return context.body(bytes[operation], 200, { "content-type": "application/json" });
    });
  const bare = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
    process.send?.({ urls: { REST: gateway.url, "bare Hono": `http://127.0.0.1:${port}` } });
  });
  process.on("message", async (order: Order) => {
    if (order === "cpu") return process.send?.(process.cpuUsage());
    const before = process.cpuUsage();
    const start = performance.now();
    let calls = 0;
    for (; performance.now() - start < order.ms; calls += 1) await run(order.loop);
    const { user, system } = process.cpuUsage(before);
    return process.send?.({ calls, seconds: (performance.now() - start) / 1000, cpuMs: (user + system) / 1000 });
  });
  process.once("disconnect", () => (bare.close(), process.exit()));
}

function answered<Answer>(child: ChildProcess, order: Order): Promise<Answer> {
  return new Promise((resolve) => {
    child.once("message", (answer) => resolve(answer as Answer));
    child.send(order);
  });
}

async function cpuMs(child: ChildProcess): Promise<number> {
  const { user, system } = await answered<NodeJS.CpuUsage>(child, "cpu");
  return (user + system) / 1000;
}

/** Repeats the same request on kept connections. */
async function load(
  url: string,
  body: string,
  connections: number,
  ms: number,
): Promise<{ calls: number; seconds: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const once = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST", agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`));
        response.resume().once("end", resolve);
      });
      sent.once("error", reject).end(body);
    });
  const start = performance.now();
  let calls = 0;
  const worker = async (): Promise<void> => {
    for (; performance.now() - start < ms; calls += 1) await once();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  agent.destroy();
  return { calls, seconds: (performance.now() - start) / 1000 };
}

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      connections: { type: "string", default: "16" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "2" },
    },
  });
  const ms = Number(values.seconds) * 1000;
  const connections = Number(values.connections);
  const env = { ...process.env, MEASURED: "1" };
  const child = fork(import.meta.filename, { env });
  const { urls } = await new Promise<Started>((resolve) =>
    child.once("message", (started) => resolve(started as Started)),
  );

  async function measure(contender: Contender, operation: Operation, forMs: number): Promise<Measured> {
    if (contender === "in process") return answered<Measured>(child, { loop: operation, ms: forMs });
    const before = await cpuMs(child);
    const outcome = await load(
      `${urls[contender]}/api/v1/${operation}`,
      JSON.stringify(BODIES[operation]),
      connections,
      forMs,
    );
    return { ...outcome, cpuMs: (await cpuMs(child)) - before };
  }

  for (const operation of ["search", "execute"] as const) {
    const contenders: readonly Contender[] = ["in process", "REST", "bare Hono"];
    const rounds = new Map<Contender, Measured[]>(contenders.map((each) => [each, []]));
    for (const contender of contenders) await measure(contender, operation, ms / 2);
    // Taken in turns, so that load on the machine affects all alike.
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const contender of contenders) rounds.get(contender)?.push(await measure(contender, operation, ms));
    const of = (contender: Contender, value: (each: Measured) => number): number =>
      median((rounds.get(contender) ?? []).map(value));
    const perCall = (contender: Contender): number => of(contender, (each) => each.cpuMs / each.calls);
    console.log(`\n${operation}`);
    for (const contender of contenders) {
      const rate = of(contender, (each) => each.calls / each.seconds);
      const cpu = perCall(contender);
      const ratio = (cpu / perCall("bare Hono")).toFixed(2);
      console.log(
        `  ${contender.padEnd(10)} ${rate.toFixed(0).padStart(7)} calls/s  ${cpu.toFixed(3)} CPU-ms a call  ${ratio} of bare Hono`,
      );
    }
    const sum = perCall("in process") + perCall("bare Hono");
    console.log(
      `  REST costs ${(perCall("REST") / sum).toFixed(2)} of the call in process and the bare route together`,
    );
  }
  child.disconnect();
}

await (process.env["MEASURED"] === undefined ? main() : measured());
