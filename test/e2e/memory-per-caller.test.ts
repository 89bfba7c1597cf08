import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repeats } from "../kit/effort.ts";
import { type HostileRequest, type ObservedGateway, startObservedGateway } from "./event-loop/observed-gateway.ts";
import { a2a, legacy, modern } from "./event-loop/protocol-requests.ts";

const MEBIBYTE = 1024 * 1024;
/** The most that the flood below may leave behind, as docs/concepts/security.md states it. */
const MOST_HELD = repeats(32, 48) * MEBIBYTE;
/** Resident memory also has what was not collected yet: the heap is limited to 256 MiB. */
const MOST_RESIDENT = 256 * MEBIBYTE;
const ROUNDS = repeats(8, 40);
const AT_ONCE = 4;

let gateway: ObservedGateway;
beforeAll(async () => {
  // A state in memory, so that what is kept for a caller counts.
  const state = { type: "memory" };
  gateway = await startObservedGateway(["--max-old-space-size=256", "--expose-gc"], { state });
});
afterAll(() => gateway.close());

let count = 0;
/** A text of this length that is sent only once. */
const fresh = (length: number): string => `${++count}-`.padEnd(length, "abcdefgh");
const execute = (body: object): Sent => ({ path: "/api/v1/execute", body });
type Sent = Omit<HostileRequest, "name" | "who">;

/** Each kind of request whose traces the gateway keeps, as large as it takes them from a caller without rights. */
const KINDS: Readonly<Record<string, (session: string) => Sent>> = {
  "calls of no tool": () => execute({ toolName: "nothing", arguments: { text: fresh(4_000_000) } }),
  "calls that are refused": () => execute({ toolName: "plant_tree", arguments: { tree: { name: fresh(4_000_000) } } }),
  "calls with a key": () =>
    execute({ toolName: "take", arguments: { text: fresh(3_900_000) }, idempotencyKey: fresh(250) }),
  "results with a key": () =>
    execute({ toolName: "echo", arguments: { text: fresh(1_000_000) }, idempotencyKey: fresh(250) }),
  "calls that wait for a person": () => execute({ toolName: "delete_page", arguments: { text: fresh(60_000) } }),
  searches: () => ({
    path: "/api/v1/search",
    body: {
      context: { query: fresh(16_000), conversationSummary: fresh(60_000), toolsAlreadyUsed: [fresh(1_000)] },
      traceId: fresh(1_000),
    },
  }),
  "legacy sessions": () => ({
    ...legacy("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { experimental: { x: fresh(50_000) } },
      clientInfo: { name: fresh(10_000), version: "1" },
    }),
    headers: { accept: "application/json, text/event-stream" },
  }),
  "calls of one session": (session) => ({
    ...legacy("tools/call", {
      name: "execute_tool",
      arguments: { name: "default.echo", arguments: { text: fresh(1_500_000) } },
    }),
    headers: { accept: "application/json, text/event-stream", "mcp-session-id": session },
  }),
  "subscriptions of one session": (session) => ({
    ...legacy("resources/subscribe", { uri: `file:///${fresh(200_000)}` }),
    headers: { accept: "application/json, text/event-stream", "mcp-session-id": session },
  }),
  "modern calls": () =>
    modern("tools/call", {
      name: "execute_tool",
      arguments: { name: "default.take", arguments: { text: fresh(3_900_000) } },
    }),
  "A2A calls": () => a2a([{ data: { tool: "default.echo", arguments: { text: fresh(2_000_000) } } }]),
  "A2A parts": () => a2a(Array.from({ length: 256 }, () => ({ text: fresh(15_000) }))),
  "A2A metadata": () => a2a([{ text: "find a pet" }], { metadata: { x: fresh(60_000) } }),
};

const residentBytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) * 1024;

async function openSession(): Promise<string> {
  const { headers } = await gateway.ask({ who: "rightless", ...(KINDS["legacy sessions"]?.("") as Sent) });
  return String(headers["mcp-session-id"]);
}

/** Sends this many requests of each kind, and thrice as many whose results are kept: those are small compared with the bound. */
async function flood(rounds: number, session: string): Promise<void> {
  const kept = KINDS["results with a key"];
  const again = kept === undefined ? [] : [kept, kept];
  const waiting = Array.from({ length: rounds }, () => [...Object.values(KINDS), ...again]).flat();
  const sendNext = async (): Promise<void> => {
    for (let make = waiting.pop(); make !== undefined; make = waiting.pop()) {
      const { status } = await gateway.ask({ who: "rightless", ...make(session) });
      expect(status).toBeLessThan(500);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
}

describe("a key without rights", () => {
  it("makes the gateway hold no more than is stated, however much it sends", async () => {
    const session = await openSession();
    await flood(1, session);
    const before = { held: await gateway.heldBytes(), resident: residentBytes() };
    const held: number[] = [];
    const resident: number[] = [];
    for (let part = 0; part < 4; part++) {
      await flood(ROUNDS / 4, session);
      resident.push(residentBytes() - before.resident);
      held.push((await gateway.heldBytes()) - before.held);
    }
    const shown = (bytes: readonly number[]): string => bytes.map((each) => Math.round(each / MEBIBYTE)).join(", ");
    process.stdout.write(`MiB held after each part: ${shown(held)}; resident: ${shown(resident)}\n`);
    expect(Math.max(...held)).toBeLessThan(MOST_HELD);
    expect(Math.max(...resident)).toBeLessThan(MOST_RESIDENT);
  }, 900_000);
});
