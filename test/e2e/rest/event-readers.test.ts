import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

describe("readers of events", () => {
  it("are bounded for each caller, and leave room for others", async () => {
    const statuses: number[] = [];
    for (let opened = 0; opened < MOST + 5; opened++) statuses.push((await read("operator-b")).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(MOST);
    expect(new Set(statuses.slice(MOST))).toEqual(new Set([429]));
    const other = await read("operator");
    expect(other.status).toBe(200);
  });

  it("all see every call", async () => {
    const readers = await Promise.all(Array.from({ length: MOST }, () => read("operator")));
    await callOften();
    const countOf = (): readonly number[] => readers.map(({ seen }) => seen());
    await eventually("every reader saw every call", () => countOf().every((count) => count >= CALLS));
    expect(new Set(countOf())).toEqual(new Set([CALLS]));
  });
});
