import { afterEach, describe, expect, it } from "vitest";
import { healthRoutes, type UpstreamHealth } from "./health-routes.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";

let server: HttpServer | undefined;
let upstreams: UpstreamHealth[] = [];

async function get(path: string, method = "GET"): Promise<{ status: number; body: unknown }> {
  // An identity that knows nobody: both paths are open.
  const identity = { name: "nobody", challenge: "None", authenticate: () => Promise.resolve(undefined) };
  server ??= await createHttpServer({ port: 0, identity, routes: healthRoutes(() => upstreams) });
  const response = await fetch(server.url + path, { method });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

afterEach(async () => {
  await server?.close();
  server = undefined;
});

describe("/healthz", () => {
  it("answers as soon as the server listens, to anybody", async () => {
    upstreams = [{ name: "slow", state: { kind: "connecting" } }];
    expect(await get("/healthz")).toEqual({ status: 200, body: { status: "ok" } });
    expect((await get("/healthz", "HEAD")).status).toBe(200);
    expect((await get("/healthz", "POST")).status).toBe(405);
  });
});

describe("/readyz", () => {
  it("is ready where nothing is configured", async () => {
    upstreams = [];
    expect(await get("/readyz")).toEqual({ status: 200, body: { upstreams: {} } });
  });

  it("names no upstream where its reader may be anybody", async () => {
    upstreams = [
      { name: "memory", state: { kind: "connected" } },
      { name: "git", state: { kind: "failed" } },
    ];
    server = await createHttpServer({ port: 0, routes: healthRoutes(() => upstreams, { named: false }) });
    expect(await get("/readyz")).toEqual({ status: 200, body: { upstreams: 2, connected: 1 } });
  });

  it("is not ready until every upstream has connected or failed", async () => {
    upstreams = [
      { name: "memory", state: { kind: "connected" } },
      { name: "git", state: { kind: "connecting" } },
    ];
    expect(await get("/readyz")).toEqual({
      status: 503,
      body: { upstreams: { memory: "connected", git: "connecting" } },
    });
    upstreams = [
      { name: "memory", state: { kind: "closed" } },
      { name: "git", state: { kind: "failed" } },
    ];
    expect(await get("/readyz")).toEqual({ status: 200, body: { upstreams: { memory: "closed", git: "failed" } } });
  });

  it("stays ready while an upstream that failed once is tried again", async () => {
    upstreams = [{ name: "git", state: { kind: "connecting" }, attempted: true }];
    expect(await get("/readyz")).toEqual({ status: 200, body: { upstreams: { git: "connecting" } } });
    upstreams = [{ name: "git", state: { kind: "connecting" }, attempted: false }];
    expect((await get("/readyz")).status).toBe(503);
  });
});
