/** Calls one tool over kept-alive connections for a while, in a process of its own. Prints a `LoadAnswer` as JSON. */
import { Agent } from "node:http";
import { type ClientKind, openWireClient } from "./wire-client.ts";

/** The load. */
export interface LoadTask {
  readonly url: string;
  readonly client: ClientKind;
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** The measurements. */
export interface LoadAnswer {
  readonly calls: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const [given] = process.argv.slice(2);
if (given !== undefined) {
  const answer = await load(JSON.parse(given) as LoadTask);
  // An open stream would keep this process alive.
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit());
}

async function load({ url, client: kind, connections, warmUpMs, measureMs }: LoadTask): Promise<LoadAnswer> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const client = await openWireClient(kind, url, agent);
  const listed = await client.request("tools/list", {});
  // Gateways prefix the name.
  const [, name] = /"name":"([^"]*echo)"/.exec(listed) ?? [];
  if (name === undefined) throw new Error(`There is no echo tool in ${listed.slice(0, 500)}`);

  let calls = 0;
  async function callUntil(end: number, kept: number[]): Promise<void> {
    for (;;) {
      const started = performance.now();
      if (started >= end) return;
      const message = `call ${(calls += 1)}.`;
      const answer = await client.request("tools/call", { name, arguments: { message } }, name);
      if (!answer.includes(`Echo: ${message}`)) throw new Error(`${message} was answered with ${answer}`);
      kept.push(performance.now() - started);
    }
  }
  async function everyConnection(ms: number): Promise<readonly number[]> {
    const kept: number[] = [];
    const end = performance.now() + ms;
    await Promise.all(Array.from({ length: connections }, () => callUntil(end, kept)));
    return kept.sort((left, right) => left - right);
  }

  await everyConnection(warmUpMs);
  process.send?.("measuring");
  const started = performance.now();
  const times = await everyConnection(measureMs);
  const seconds = (performance.now() - started) / 1000;
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { calls: times.length, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}
