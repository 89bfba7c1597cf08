import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { repeats } from "../../kit/effort.ts";
import { eventually } from "../replicas/eventually.ts";
import { type Caller, type KeyedGateway, startKeyedGateway } from "./keyed-gateway.ts";

/** The most readers of one caller. */
const MOST = 64;

const MODULE = `export default (arsenal) =>
  arsenal.register({ name: "greet", description: "Says hello." }, () => "hello");`;

let folder: string;
let gateway: KeyedGateway;
let leaving: AbortController;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-readers-"));
  writeFileSync(join(folder, "tools.mjs"), MODULE);
  leaving = new AbortController();
  gateway = await startKeyedGateway({
    settings: { modules: [join(folder, "tools.mjs")] },
    security: { max_requests_per_minute: 1_000_000 },
  });
});
afterEach(async () => {
  leaving.abort();
  await gateway.close();
  rmSync(folder, { recursive: true });
});

/** Opens a reader of all events. It counts the calls that it saw end. */
async function read(who: Caller): Promise<{ readonly status: number; readonly seen: () => number }> {
  const headers = { "x-api-key": gateway.keyOf(who) };
  const response = await fetch(`${gateway.url}/api/v1/events`, { headers, signal: leaving.signal });
  let seen = 0;
  const follow = async (): Promise<void> => {
    let rest = "";
    for await (const part of response.body ?? []) {
      const lines = (rest + Buffer.from(part).toString()).split("\n");
      rest = lines.pop() ?? "";
      seen += lines.filter((line) => line.startsWith('data: {"name":"call-finished"')).length;
    }
  };
  // The stream ends with the test.
  follow().catch(() => undefined);
  return { status: response.status, seen: () => seen };
}

const CALLS = repeats(300, 1_000);
/** Calls a tool often, ten times at once. */
async function callOften(): Promise<void> {
  let made = 0;
  const caller = async (): Promise<void> => {
    while (made++ < CALLS) {
      const { body } = await gateway.ask("guest", "POST", "/api/v1/execute", { toolName: "greet", arguments: {} });
      expect(body).toMatchObject({ status: "success" });
    }
  };
  await Promise.all(Array.from({ length: 10 }, caller));
}

/** CPU time of the process, in milliseconds. */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function cpuOfCalls(): Promise<number> {
  const before = cpuMs();
  await callOften();
  return cpuMs() - before;
}

describe("readers of events", () => {
  it("are bounded for each caller, and leave room for others", async () => {
    const statuses: number[] = [];
    for (let opened = 0; opened < MOST + 5; opened++) statuses.push((await read("operator-b")).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(MOST);
    expect(new Set(statuses.slice(MOST))).toEqual(new Set([429]));
    const other = await read("operator");
    expect(other.status).toBe(200);
  });

  it("do not each make every call dearer", async () => {
    await callOften();
    const first = await read("operator");
    const withOne = await cpuOfCalls();
    await eventually("it saw every call", () => first.seen() === CALLS);
    const others = await Promise.all(Array.from({ length: MOST - 1 }, () => read("operator")));
    const withAll = await cpuOfCalls();
    await eventually("everybody saw every call since", () => others.every(({ seen }) => seen() === CALLS));
    expect(withAll).toBeLessThan(2 * withOne);
  });
});
