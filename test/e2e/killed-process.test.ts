import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IS_DEEP } from "../kit/effort.ts";
import { type Caller, type KeyedAnswer, type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";
import { held, startUpstream, type Upstream } from "./replicas/upstream.ts";

/** How long what a killed process held may stay taken: 15 seconds, and more if other tests take the processor. */
const FREE_MS = IS_DEEP ? 15_000 : 60_000;

let folder: string;
let upstream: Upstream;
let gateway: KeyedGateway;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-killed-"));
  upstream = await startUpstream("modern");
});
afterEach(async () => {
  // Asked to stop, it would wait for the calls that are held.
  await gateway.kill();
  await gateway.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

/** Starts the only gateway of a server that holds calls until they may end. */
async function open(execution: object = {}): Promise<void> {
  gateway = await startKeyedGateway({
    servers: { seats: { type: "http", url: upstream.url }, chairs: { type: "http", url: upstream.url } },
    settings: { state: { file: join(folder, "state.sqlite") }, execution },
    security: { allowed_domains: ["127.0.0.1"] },
  });
}

async function call(
  who: Caller,
  tool: string,
  id: string,
  { key, withinMs }: { readonly key?: string; readonly withinMs?: number } = {},
): Promise<KeyedAnswer> {
  const body = { toolName: tool, arguments: { id }, timeoutMs: 300_000 };
  const headers = key === undefined ? {} : { "idempotency-key": key };
  return gateway.ask(who, "POST", "/api/v1/execute", body, { headers, ...(withinMs !== undefined && { withinMs }) });
}

/** Makes a call that is under way at the server when this resolves. */
async function hold(tool: string, id: string, key?: string, who: Caller = "guest"): Promise<void> {
  const waiting = held(upstream, id);
  // The process is killed before the call is answered.
  call(who, tool, id, key === undefined ? {} : { key }).catch(() => undefined);
  await waiting;
}

/** Takes every place. One caller alone does not get all of them. */
async function holdAll(tools: readonly string[], when: string): Promise<void> {
  for (const [place, tool] of tools.entries())
    await hold(tool, `${when} ${place}`, undefined, place === 0 ? "guest" : "approver");
}

const portOf = ({ url }: KeyedGateway): number => Number(new URL(url).port);

describe("the only gateway, killed while its calls hold every place", () => {
  it.each([
    { whose: "a server", tools: ["seats.hold", "seats.hold"], limits: { max_concurrent_per_ensemble: 2 }, at: "its" },
    {
      whose: "a server",
      tools: ["seats.hold", "seats.hold"],
      limits: { max_concurrent_per_ensemble: 2 },
      at: "another",
    },
    { whose: "the gateway", tools: ["seats.hold", "chairs.hold"], limits: { max_concurrent: 2 }, at: "its" },
  ])(
    "of $whose, has them free soon after it started again at $at port",
    async ({ tools, limits, at }) => {
      await open(limits);
      await holdAll(tools, "before");
      const port = portOf(gateway);
      await gateway.kill();
      await gateway.start(at === "its" ? port : undefined);
      const { body } = await call("guest-a", "seats.book", "one more", { withinMs: FREE_MS });
      expect(body).toMatchObject({ status: "success" });
      // All of them are free: as many calls as before are under way at once.
      await holdAll(tools, "after");
    },
    60_000,
  );
});

describe("a call that was under way with an idempotency key when its process was killed", () => {
  it("is not repeated: its outcome is unknown, and the caller learns that at once", async () => {
    await open();
    await hold("seats.hold", "first", "order-7");
    await gateway.kill();
    await gateway.start();
    for (let repetition = 0; repetition < 2; repetition++) {
      const { body } = await call("guest", "seats.hold", "first", { key: "order-7", withinMs: FREE_MS });
      expect(body).toMatchObject({ code: "OUTCOME_UNKNOWN", detail: expect.stringContaining("may have run") });
    }
    expect(upstream.executed.get("first")).toBe(1);
    // Keys of other callers have nothing to do with it.
    expect((await call("guest-a", "seats.book", "second", { key: "order-7" })).body).toMatchObject({
      status: "success",
    });
  });
});
