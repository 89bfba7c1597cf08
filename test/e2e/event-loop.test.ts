import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyNth, repeats } from "../kit/effort.ts";
import { type HostileRequest, type ObservedGateway, startObservedGateway } from "./event-loop/observed-gateway.ts";
import { legacy } from "./event-loop/protocol-requests.ts";
import { surfaceRequests } from "./event-loop/surface-requests.ts";
import { carriedShapes, CARRIERS } from "./event-loop/worst-requests.ts";

/** How long one request may hold the event loop, in milliseconds of CPU time: 100 on an idle core, and half more while another test runs beside it. */
const MOST_MS = 150;
/** Cores that are shared, and compilers that have seen nothing yet, only add time: the least of so many tries counts. */
const TRIES = 5;

let gateway: ObservedGateway;
const sessions = new Map<string, string>();

beforeAll(async () => {
  gateway = await startObservedGateway();
  const client = { capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const { path, headers, body } = legacy("initialize", { protocolVersion: "2025-11-25", ...client });
  const { "mcp-session-id": _, ...others } = headers ?? {};
  for (const who of ["rightless", "caller"] as const) {
    const answer = await gateway.ask({ who, path, body, headers: others });
    sessions.set(who, String(answer.headers["mcp-session-id"]));
  }
  for (let round = 0; round < 20; round++) {
    await ask({ who: "caller", path: "/api/v1/execute", body: { toolName: "echo", arguments: { round } } });
    await ask({ who: "rightless", path: "/api/v1/search", body: { context: { query: "find a pet" } } });
  }
});
afterAll(() => gateway.close());

async function ask(request: Omit<HostileRequest, "name">): Promise<number> {
  const isLegacy = request.headers?.["mcp-session-id"] === "";
  const headers = { ...request.headers, ...(isLegacy && { "mcp-session-id": sessions.get(request.who) ?? "" }) };
  return (await gateway.ask({ ...request, headers })).status;
}

/** The longest that a request holds the event loop. */
async function held(request: Omit<HostileRequest, "name">): Promise<number> {
  let least = Infinity;
  for (let tried = 0; tried < TRIES && least > MOST_MS; tried++) {
    await gateway.longestTurn();
    const status = await ask(request);
    expect(status).not.toBe(500);
    least = Math.min(least, await gateway.longestTurn());
  }
  return least;
}

async function slowest(requests: Iterable<HostileRequest>): Promise<readonly (readonly [ms: number, name: string])[]> {
  const all: [number, string][] = [];
  for (const request of requests) all.push([Math.round(await held(request)), request.name]);
  const worst = all.toSorted(([one], [other]) => other - one).slice(0, 10);
  process.stdout.write(
    `${all.length} requests. The longest turns, in ms:\n${worst.map((each) => each.join("  ")).join("\n")}\n`,
  );
  return worst.filter(([ms]) => ms > MOST_MS);
}

describe("no request within the size limits holds the event loop for more than 100 ms", () => {
  it("with the worst values as arguments, queries, messages and metadata", async () => {
    expect(await slowest(carriedShapes())).toEqual([]);
  }, 1_800_000);

  it("with the worst of each operation, and the worst results of tools", async () => {
    expect(await slowest(everyNth(surfaceRequests(), 24))).toEqual([]);
  }, 1_800_000);

  it("with values of any form near the limits", async () => {
    const unit = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
      fc.string({ minLength: 1, maxLength: 20 }),
    );
    const form = fc.record({
      unit,
      texts: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 90_000 })),
      inObjects: fc.boolean(),
      depth: fc.integer({ min: 0, max: 40 }),
      carrier: fc.constantFrom(
        "REST call",
        "REST call that does not fit",
        "modern MCP call",
        "A2A call",
        "conversation of a search",
      ),
    });
    await fc.assert(
      fc.asyncProperty(form, async ({ unit: part, texts, inObjects, depth, carrier }) => {
        const { who, mebibytes, copies = 1, carry } = CARRIERS[carrier] as (typeof CARRIERS)[string];
        const most = Math.floor(Math.min(texts, (inObjects ? 19_000 : 90_000) / copies));
        const bytes = (mebibytes * 1_000_000) / copies / most - 14;
        const times = Math.max(1, Math.floor(bytes / (Buffer.byteLength(JSON.stringify(part)) - 2)));
        const list = Array.from({ length: most }, (_, at) => [`k${at}`, part.repeat(times)] as const);
        let value: unknown = inObjects ? Object.fromEntries(list) : list.map(([, text]) => text);
        for (let level = 0; level < depth; level++) value = [value];
        expect(await held({ who, ...carry(value) })).toBeLessThanOrEqual(MOST_MS);
      }),
      { numRuns: repeats(3, 300), endOnFailure: true },
    );
  }, 1_800_000);
});
