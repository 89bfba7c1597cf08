import { describe, expect, it } from "vitest";
import { bearerToken } from "../../adapters/identity/bearer-token.ts";
import { localOperator } from "../../guard/principal.ts";
import { askRaw, eventsOf, openGateway } from "../../../test/serve/rest-gateway.ts";

const TOKEN = "a-token-of-some-length";
const ada = bearerToken({
  tokens: [{ token: TOKEN, principal: localOperator({ id: "ada", local: false, roles: [] }) }],
});
const asAda = { authorization: `Bearer ${TOKEN}` };

describe("the REST API", () => {
  it("answers a caller that nobody knows with a problem, and says how to sign in", async () => {
    const { ask } = await openGateway({ identity: ada });
    const { status, headers, body } = await ask("GET", "/tools");
    expect([status, headers.get("content-type"), headers.get("www-authenticate")]).toEqual([
      401,
      "application/problem+json",
      'Bearer realm="toolarsenal"',
    ]);
    expect(body).toMatchObject({ status: 401, code: "UNAUTHENTICATED", requestId: headers.get("x-request-id") });
    expect((await ask("GET", "/tools", { headers: asAda })).status).toBe(200);
  });

  it("refuses what changes the gateway to callers without the role, and says which role", async () => {
    const { ask } = await openGateway({ identity: ada });
    const { status, body } = await ask("POST", "/tools", { headers: asAda, body: { name: "t" } });
    expect([status, body.code, body.fix]).toEqual([403, "PERMISSION_DENIED", expect.stringContaining('"operator"')]);
    expect((await ask("DELETE", "/tools/billing.get_invoice", { headers: asAda })).status).toBe(403);
  });

  it("refuses other hosts and origins with a problem, and pages of other sites that send no Origin", async () => {
    const { url } = await openGateway();
    const ask = async (headers: Record<string, string>, method = "GET") => {
      const { status, body } = await askRaw(`${url}/api/v1/tools`, { method, headers });
      return [status, (JSON.parse(body) as { code: string }).code];
    };
    expect(await ask({ host: "evil.example" })).toEqual([403, "PERMISSION_DENIED"]);
    expect(await ask({ origin: "https://evil.example" })).toEqual([403, "PERMISSION_DENIED"]);
    expect(await ask({ "sec-fetch-site": "cross-site" })).toEqual([403, "PERMISSION_DENIED"]);
    expect(await ask({ "sec-fetch-site": "same-site" }, "POST")).toEqual([403, "PERMISSION_DENIED"]);
    const { status } = await askRaw(`${url}/api/v1/tools`, { headers: { "sec-fetch-site": "same-origin" } });
    expect(status).toBe(200);
  });

  it("lets an allowed origin in, also across sites", async () => {
    const { url } = await openGateway({ allowedOrigins: ["https://app.example"] });
    const headers = { origin: "https://app.example", "sec-fetch-site": "cross-site" };
    const answer = await askRaw(`${url}/api/v1/tools`, { headers });
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([200, "https://app.example"]);
  });

  it("takes no form and no other body than JSON, even where none is needed", async () => {
    const { ask } = await openGateway();
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const path of ["/search", "/sync"]) {
      const { status, body } = await ask("POST", path, { headers: form, body: "a=1" });
      expect([path, status, body.code]).toEqual([path, 415, "INPUT_INVALID"]);
    }
    expect((await ask("POST", "/sync")).status).toBe(200);
    expect((await ask("POST", "/sync", { body: {} })).status).toBe(200);
    expect((await ask("POST", "/sync", { body: { force: true } })).body).toMatchObject({ status: 400, field: "force" });
  });

  it("keeps a sane request id, and makes one otherwise", async () => {
    const { ask } = await openGateway();
    const idOf = async (id?: string) =>
      (await ask("GET", "/info", id === undefined ? {} : { headers: { "x-request-id": id } })).headers.get(
        "x-request-id",
      );
    expect(await idOf("deploy-42/7")).toBe("deploy-42/7");
    expect(await idOf("has spaces")).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf("x".repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf()).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("names a wrong field, its value and the fix", async () => {
    const { ask } = await openGateway();
    const wrong = await ask("POST", "/search", { body: { context: { query: 7 } } });
    expect(wrong.body).toMatchObject({
      status: 400,
      code: "INPUT_INVALID",
      type: "urn:toolarsenal:error:INPUT_INVALID",
      field: "context.query",
      value: 7,
      fix: expect.stringContaining("string"),
    });
    const missing = await ask("POST", "/execute", { body: { arguments: {} } });
    expect(missing.body).toMatchObject({ status: 400, field: "toolName", detail: expect.stringContaining("toolName") });
    const unknown = await ask("POST", "/execute", { body: { toolname: "t", toolName: "t" } });
    expect(unknown.body).toMatchObject({ status: 400, field: "toolname", fix: "Did you mean toolName?" });
    const parameter = await ask("GET", "/tools?limt=3");
    expect(parameter.body).toMatchObject({ status: 400, field: "limt", fix: "Did you mean limit?" });
    expect((await ask("GET", "/tools?limit=x")).body).toMatchObject({ status: 400, field: "limit", value: "x" });
    expect((await ask("GET", "/tools?limit=1&limit=2")).body).toMatchObject({ status: 400, field: "limit" });
  });

  it("refuses bodies that are too large, broken or ambiguous", async () => {
    const { ask } = await openGateway();
    const statusOf = async (body: string) => (await ask("POST", "/search", { body })).status;
    expect(await statusOf(JSON.stringify({ context: { query: "x".repeat(1024 * 1024) } }))).toBe(413);
    expect(await statusOf("{ no JSON")).toBe(400);
    expect(await statusOf('{"context":{"query":"a"},"context":{"query":"b"}}')).toBe(400);
  });

  it("says 404 for an unknown path and 405, with what is allowed, for an unknown method", async () => {
    const { ask } = await openGateway();
    expect((await ask("GET", "/nothing")).body).toMatchObject({ status: 404, code: "INPUT_INVALID" });
    expect((await ask("GET", "")).body).toMatchObject({ status: 404 });
    const { status, headers, body } = await ask("PATCH", "/tools");
    expect([status, headers.get("allow"), body.status]).toEqual([405, "GET, POST, HEAD", 405]);
  });

  it("answers HEAD like GET, without the body", async () => {
    const { ask } = await openGateway();
    const { status, headers, text } = await ask("HEAD", "/tools/billing.get_invoice");
    expect([status, text, Number(headers.get("content-length")) > 100]).toEqual([200, "", true]);
  });

  it("says nothing about a fault of its own but the request id, and reports the fault", async () => {
    const { ask, arsenal } = await openGateway();
    const failed: unknown[] = [];
    arsenal.subscribe(({ name, data }) => name === "request-failed" && failed.push(data));
    arsenal.healthCheck = () => Promise.reject(new TypeError("secret detail"));
    const { status, body, headers, text } = await ask("GET", "/health", { headers: { "x-request-id": "r-1" } });
    expect([status, body.code, headers.get("x-request-id")]).toEqual([500, "INTERNAL_ERROR", "r-1"]);
    expect(text).not.toContain("secret detail");
    expect(failed).toEqual([{ requestId: "r-1", path: "/api/v1/health", message: "secret detail" }]);
  });

  it("removes known secrets from answers, problems and progress", async () => {
    const secret = "sk-live-0123456789abcdef";
    const { ask, arsenal, url } = await openGateway({}, {}, { environment: { SHOP_KEY: secret } });
    const paths = { "/healthz": { get: { operationId: "alive", responses: {} } } };
    const document = { openapi: "3.1.0", info: { title: "Shop", version: "1" }, paths };
    await arsenal.add({ type: "openapi", name: "own", document, server: url, headers: { "x-key": "env:SHOP_KEY" } });
    await ask("POST", "/execute", { body: { toolName: "own.alive" } });
    arsenal.register({ name: "leak", description: "Returns what it should not." }, (_args, { progress }) => {
      progress({ progress: 1, message: `at ${secret.slice(0, 12)}` });
      progress({ progress: 2, message: secret.slice(12) });
      return { key: secret };
    });
    const plain = await ask("POST", "/execute", { body: { toolName: "leak" } });
    const streamed = await ask("POST", "/execute", {
      body: { toolName: "leak" },
      headers: { accept: "text/event-stream" },
    });
    const problem = await ask("GET", `/tools/${secret}`);
    for (const { text } of [plain, streamed, problem]) expect(text).not.toContain(secret.slice(12));
    expect(plain.status).toBe(200);
    expect(eventsOf(streamed.text).at(-1)).toMatchObject({ event: "result", data: { status: "success" } });
  });

  it("carries on the trace that the caller began", async () => {
    const { ask } = await openGateway();
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const found = await ask("POST", "/search", { body: { context: { query: "invoice" } }, headers });
    const ran = await ask("POST", "/execute", { body: { toolName: "shop.ship" }, headers });
    expect([found.body.traceId, ran.body.traceId]).toEqual([traceId, traceId]);
  });
});
