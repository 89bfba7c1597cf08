import { describe, expect, it } from "vitest";
import { memoryState } from "../../src/adapters/state/memory.ts";
import { createReplica } from "../../src/serve/replica.ts";
import { pageRefusal, pageTokenMeta } from "../../src/serve/http/page-token.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { askRaw, openGateway } from "../serve/rest-gateway.ts";
import { startKeyedGateway } from "./rest/keyed-gateway.ts";

const CALL = JSON.stringify({ toolName: "billing.list_invoices" });

const tokenOf = (page: string): string => /<meta name="page-token" content="([\w.-]+)">/.exec(page)?.[1] ?? "";

/** Calls a tool as a browser would, with these headers. */
async function call(url: string, headers: Readonly<Record<string, string>>) {
  const { status, body } = await askRaw(`${url}/api/v1/execute`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: CALL,
  });
  return { status, body: JSON.parse(body) as Record<string, unknown> };
}

describe("a request from a page of the gateway's own origin", () => {
  it.each([
    ["Origin", (url: string) => ({ origin: url })],
    ["Sec-Fetch-Site", () => ({ "sec-fetch-site": "same-origin" })],
  ] as const)("known by %s changes nothing without the page's token", async (_name, from) => {
    const { url } = await openGateway();
    const refused = await call(url, from(url));
    expect(refused).toMatchObject({
      status: 403,
      body: { code: "PERMISSION_DENIED", field: "x-page-token", fix: expect.stringContaining("Reload the page") },
    });
    expect(refused.body["detail"]).toContain("has no page token");
    const wrong = await call(url, { ...from(url), "x-page-token": "ta1.wrong" });
    expect([wrong.status, wrong.body["detail"]]).toEqual([
      403,
      expect.stringContaining("invalid or expired page token"),
    ]);
    const token = tokenOf((await askRaw(`${url}/docs`, {})).body);
    expect(token).not.toBe("");
    expect(await call(url, { ...from(url), "x-page-token": token })).toMatchObject({ body: { status: "success" } });
  });

  it.each([
    ["/mcp", "POST"],
    ["/mcp", "DELETE"],
    ["/mcp/toolsets/any", "POST"],
    ["/mcp/upstreams/any", "POST"],
    ["/sse/messages", "POST"],
    ["/a2a", "POST"],
    ["/a2a/v1/message:send", "POST"],
    ["/api/v1/search", "POST"],
  ])("needs the page's token at %s too", async (path, method) => {
    const { url } = await openGateway({}, { a2a: { serveA2a: true } });
    const token = tokenOf((await askRaw(`${url}/docs`, {})).body);
    for (const from of [{ origin: url }, { "sec-fetch-site": "same-origin" }]) {
      const ask = (headers: Readonly<Record<string, string>>) =>
        askRaw(url + path, {
          method,
          headers: { "content-type": "application/json", ...from, ...headers },
          body: "{}",
        });
      const refused = await ask({});
      expect([refused.status, refused.body]).toEqual([403, expect.stringContaining("has no page token")]);
      expect((await ask({ "x-page-token": "ta1.wrong" })).body).toContain("invalid or expired page token");
      expect((await ask({ "x-page-token": token })).body).not.toContain("page token");
    }
    expect((await askRaw(url + path, { method, body: "{}" })).body).not.toContain("page token");
  });

  it("is known by the public address too", async () => {
    const origin = "https://tools.example.com";
    const { url } = await openGateway({ publicUrl: origin });
    expect((await call(url, { origin })).status).toBe(403);
  });

  it("reads without a token", async () => {
    const { url } = await openGateway();
    expect((await askRaw(`${url}/api/v1/tools`, { headers: { origin: url } })).status).toBe(200);
  });

  it("cannot use the token of another gateway", async () => {
    const [one, other] = [await openGateway(), await openGateway()];
    const token = tokenOf((await askRaw(`${other.url}/docs`, {})).body);
    expect((await call(one.url, { origin: one.url, "x-page-token": token })).status).toBe(403);
  });
});

describe("a started gateway with keys", () => {
  it("wants the page's token from its own origin at every surface, whoever asks", async () => {
    const gateway = await startKeyedGateway();
    try {
      const { url } = gateway;
      const key = { "x-api-key": gateway.keyOf("operator"), "content-type": "application/json" };
      const token = tokenOf((await askRaw(`${url}/docs`, { headers: key })).body);
      for (const path of ["/mcp", "/a2a", "/api/v1/search", "/api/v1/sync"]) {
        const ask = async (headers: Readonly<Record<string, string>>) =>
          (await askRaw(url + path, { method: "POST", headers: { ...key, ...headers }, body: "{}" })).body;
        expect([path, await ask({ origin: url })]).toEqual([path, expect.stringContaining("has no page token")]);
        expect(await ask({ origin: url, "x-page-token": token })).not.toContain("page token");
        expect(await ask({})).not.toContain("page token");
      }
    } finally {
      await gateway.close();
    }
  });
});

describe("a request that needs no page token", () => {
  it("comes from a program, or from a page of an allowed origin", async () => {
    const origin = "https://app.example.com";
    const { url } = await openGateway({ allowedOrigins: [origin] });
    for (const headers of [{}, { origin }, { origin, "sec-fetch-site": "cross-site" }])
      expect(await call(url, headers)).toMatchObject({ status: 200, body: { status: "success" } });
  });

  it("comes from a program that sends the gateway's own origin, if the operator allowed that origin", async () => {
    const origin = "http://tools.example.com";
    const { url } = await openGateway({ allowedHosts: ["tools.example.com"], allowedOrigins: [origin] });
    const own = { host: "tools.example.com", origin };
    expect((await call(url, own)).status).toBe(200);
    expect((await call(url, { ...own, "sec-fetch-site": "same-origin" })).status).toBe(403);
  });
});

describe("a page token", () => {
  it("is good for a day, at every process on the same state", async () => {
    const clock = createManualClock(1_000_000);
    const state = memoryState({ clock });
    const [one, other] = [await createReplica(state, { clock }), await createReplica(state, { clock })];
    const headers = {
      host: "tools.example.com",
      origin: "https://tools.example.com",
      "x-page-token": tokenOf(pageTokenMeta(one.seal)),
    };
    const refusal = (): unknown => pageRefusal({ method: "POST", headers }, other)?.message;
    await clock.advance(86_399_999);
    expect(refusal()).toBe(undefined);
    await clock.advance(1);
    expect(refusal()).toContain("invalid or expired page token");
  });
});
