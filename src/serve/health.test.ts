import { afterEach, describe, expect, it } from "vitest";
import type { McpUpstream } from "../adapters/sources/mcp/upstream/upstream.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createProbe, type Dependencies } from "./dependencies.ts";
import { healthSurface } from "./health.ts";
import { createHttpServer, type HttpServer } from "./http/http-server.ts";
import { STARTED } from "./startup.ts";
import type { Surface } from "./surface.ts";
import { createWork } from "./work.ts";

let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** How each upstream fares, those that were never tried to the end, and what else there is. */
interface Situation {
  readonly states?: Readonly<Record<string, McpUpstream["state"]["kind"]>>;
  readonly connecting?: readonly string[];
  readonly isLocal?: boolean;
  readonly surfaces?: readonly Surface[];
  readonly work?: ReturnType<typeof createWork>;
  readonly dependencies?: Dependencies;
}

async function get(
  path: string,
  situation: Situation = {},
  method = "GET",
): Promise<{ status: number; body: unknown }> {
  const { states = {}, connecting = [], isLocal = true, surfaces = [], work = createWork(), dependencies } = situation;
  const upstreams = Object.entries(states).map(([name, kind]) => ({ name, state: { kind } }) as McpUpstream);
  const surface = healthSurface({
    arsenal: { upstreams } as never,
    startup: { ...STARTED, connecting: () => connecting },
    work,
    isLocal,
    surfaces: () => surfaces,
    ...(dependencies && { dependencies }),
  });
  // An identity that knows nobody: both paths are open.
  const identity = { name: "nobody", challenge: "None", authenticate: () => Promise.resolve(undefined) };
  await server?.close();
  server = await createHttpServer({ port: 0, identity, routes: surface.routes });
  const response = await fetch(server.url + path, { method });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

describe("/healthz", () => {
  it("answers as soon as the server listens, to anybody", async () => {
    const slow = { states: { slow: "connecting" }, connecting: ["slow"] } as const;
    expect(await get("/healthz", slow)).toEqual({ status: 200, body: { status: "ok" } });
    expect((await get("/healthz", slow, "HEAD")).status).toBe(200);
    expect((await get("/healthz", slow, "POST")).status).toBe(405);
  });
});

describe("/readyz", () => {
  it("is ready if nothing is configured", async () => {
    expect(await get("/readyz")).toEqual({ status: 200, body: { upstreams: {} } });
  });

  it("names nothing if its reader may be anybody", async () => {
    const broken: Surface = { name: "rest", routes: [], problem: () => "its store is away" };
    const states = { memory: "connected", git: "failed" } as const;
    const open = { states, isLocal: false };
    expect(await get("/readyz", open)).toEqual({ status: 200, body: { upstreams: 2, connected: 1 } });
    const { status, body } = await get("/readyz", { ...open, surfaces: [broken] });
    expect([status, body]).toEqual([503, { upstreams: 2, connected: 1 }]);
  });

  it("is not ready until every upstream has connected or failed", async () => {
    expect(await get("/readyz", { states: { memory: "connected", git: "connecting" }, connecting: ["git"] })).toEqual({
      status: 503,
      body: { upstreams: { memory: "connected", git: "connecting" } },
    });
    expect(await get("/readyz", { states: { memory: "closed", git: "failed" } })).toEqual({
      status: 200,
      body: { upstreams: { memory: "closed", git: "failed" } },
    });
  });

  it("stays ready while an upstream that failed once is retried", async () => {
    const retried = await get("/readyz", { states: { git: "connecting" } });
    expect(retried).toEqual({ status: 200, body: { upstreams: { git: "connecting" } } });
  });

  it("is not ready while a surface has a problem, and says which", async () => {
    const surface: Surface = { name: "rest", routes: [], problem: () => "its store is away" };
    expect(await get("/readyz", { surfaces: [surface] })).toEqual({
      status: 503,
      body: { upstreams: {}, problems: { rest: "its store is away" } },
    });
  });

  it("is not ready while the gateway shuts down", async () => {
    const work = createWork();
    await work.drain(0);
    expect(await get("/readyz", { work })).toEqual({ status: 503, body: { draining: true, upstreams: {} } });
  });

  it("is not ready during the shutdown delay, in which work is still taken", async () => {
    const clock = createManualClock();
    const work = createWork(clock);
    const drained = work.drain(0, { delayMs: 1_000 });
    const { signal } = new AbortController();
    expect((await get("/readyz", { work })).status).toBe(503);
    expect(await work.run(signal, async () => "done")).toBe("done");
    await clock.advance(1_000);
    await drained;
    await expect(work.run(signal, async () => "late")).rejects.toMatchObject({ code: "CLOSED" });
  });
});

describe("what the gateway depends on", () => {
  const works = async (): Promise<boolean> => true;
  const fails = async (): Promise<boolean> => Promise.reject(new Error("postgres://user:password@host is away"));
  const WORKING: Dependencies = { catalog: works, audit: works, state: works };

  it.each([
    ["catalog", "does not answer: tools cannot be listed or searched"],
    ["audit", "cannot be written: calls that must be recorded are refused"],
  ] as const)("makes it unready without its %s, and only the operator is told why", async (name, why) => {
    const dependencies = { ...WORKING, [name]: fails };
    expect(await get("/readyz", { dependencies })).toEqual({
      status: 503,
      body: { upstreams: {}, problems: { [name]: why } },
    });
    const stranger = await get("/readyz", { dependencies, isLocal: false });
    expect(stranger).toEqual({ status: 503, body: { upstreams: 0, connected: 0 } });
    expect((await get("/healthz", { dependencies })).status).toBe(200);
  });

  it("leaves it ready without its state, because calls still run", async () => {
    const dependencies = { ...WORKING, state: fails };
    expect(await get("/readyz", { dependencies })).toEqual({
      status: 200,
      body: {
        upstreams: {},
        degraded: { state: "does not answer: what needs an approval, pin or idempotency key is refused" },
      },
    });
    const stranger = await get("/readyz", { dependencies, isLocal: false });
    expect(stranger).toEqual({ status: 200, body: { upstreams: 0, connected: 0 } });
  });

  it("is asked once in two seconds, however many ask, and what hangs does not work", async () => {
    const clock = createManualClock();
    let asked = 0;
    let hanging = Promise.withResolvers<boolean>();
    const probe = createProbe({ ...WORKING, catalog: () => (asked++, hanging.promise) }, clock);
    const answers = [probe(), probe()];
    await clock.advance(2_000);
    expect(await Promise.all(answers)).toEqual([["catalog"], ["catalog"]]);
    const again = probe();
    await clock.advance(1_000);
    expect(asked).toBe(1);
    hanging.resolve(true);
    expect(await again).toEqual([]);
    hanging = Promise.withResolvers();
    hanging.resolve(true);
    await clock.advance(1_000);
    expect(await probe()).toEqual([]);
    expect(asked).toBe(2);
  });
});
