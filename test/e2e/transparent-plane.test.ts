import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";
import { serveFixture, type FixtureServer } from "../conformance/fixture-server.ts";

type Json = Record<string, unknown>;
type Send = (method: string, params?: Json) => Promise<{ readonly body: Json; readonly text: string }>;

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const CLIENT = { name: "raw", version: "1.0.0" };

/** Speaks the modern era with nothing but fetch, so that no library hides a difference. */
function modern(url: string): Send {
  return async (method, params = {}) => {
    const version = "2026-07-28";
    const meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientInfo": CLIENT,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const name = params["name"] ?? params["uri"];
    return post(
      url,
      method,
      { ...params, _meta: meta },
      {
        "mcp-protocol-version": version,
        "mcp-method": method,
        ...(name === undefined ? {} : { "mcp-name": String(name) }),
      },
    );
  };
}

/** The same for the legacy era: a session first. */
async function legacy(url: string): Promise<Send> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: CLIENT };
  const { session } = await post(url, "initialize", params, {});
  const headers = { "mcp-session-id": session ?? "", "mcp-protocol-version": "2025-11-25" };
  const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  await (await fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body })).text();
  return (method, given) => post(url, method, given ?? {}, headers);
}

async function post(
  url: string,
  method: string,
  params: Json,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly body: Json; readonly text: string; readonly session: string | null }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  const response = await fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body });
  const whole = await response.text();
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const events = whole.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  const text = isStream ? (events.at(-1) ?? "") : whole;
  return { body: JSON.parse(text) as Json, text, session: response.headers.get("mcp-session-id") };
}

/** What an answer says, to the letter, its members in their order. */
function said({ body }: { readonly body: Json }): string {
  return JSON.stringify(body["result"] ?? body["error"]);
}

const TOOLS = [
  "test_simple_text",
  "test_image_content",
  "test_audio_content",
  "test_embedded_resource",
  "test_multiple_content_types",
  "test_error_handling",
] as const;

describe("one upstream, untouched", () => {
  let fixture: FixtureServer;
  let arsenal: ToolArsenal;
  let gateway: ServedGateway;
  let through: string;

  beforeAll(async () => {
    fixture = await serveFixture();
    arsenal = new ToolArsenal({
      telemetry: { enabled: false },
      security: { deny: ["test_audio_content"], maxRequestsPerMinute: 10_000 },
    });
    await arsenal.addMcpServer({ name: "fixture", transport: { kind: "http", url: fixture.url } });
    gateway = await arsenal.serve({ port: 0 });
    through = `${gateway.url}/mcp/upstreams/fixture`;
  });

  afterAll(async () => {
    await gateway.close();
    await arsenal.close();
    await fixture.close();
  });

  for (const [era, open] of [
    ["legacy", legacy],
    ["modern", async (url: string) => modern(url)],
  ] as const) {
    describe(`to a ${era} client`, () => {
      let direct: Send;
      let relayed: Send;
      beforeAll(async () => {
        direct = await open(fixture.url);
        relayed = await open(through);
      });

      it.each(["prompts/list", "resources/list", "resources/templates/list"])(
        "answers %s to the letter",
        async (method) => {
          expect(said(await relayed(method))).toEqual(said(await direct(method)));
        },
      );

      it.each(TOOLS.filter((name) => name !== "test_audio_content"))(
        "answers a call of %s to the letter",
        async (name) => {
          const params = { name, arguments: {} };
          expect(said(await relayed("tools/call", params))).toEqual(said(await direct("tools/call", params)));
        },
      );

      it("reads a resource and gets a prompt to the letter", async () => {
        for (const [method, params] of [
          ["resources/read", { uri: "test://static-text" }],
          ["prompts/get", { name: "test_simple_prompt" }],
        ] as const)
          expect(said(await relayed(method, params))).toEqual(said(await direct(method, params)));
      });

      it("hands on the server's own errors", async () => {
        for (const [method, params] of [
          ["resources/read", { uri: "test://nothing" }],
          ["prompts/get", { name: "nothing" }],
          ["tools/call", { name: "test_multiple_content_types", arguments: { unknown: 1 } }],
        ] as const)
          expect(said(await relayed(method, params))).toEqual(said(await direct(method, params)));
      });

      it("keeps what policy hides out of the list, and answers as if it did not exist", async () => {
        const names = ({ body }: { readonly body: Json }): string[] =>
          ((body["result"] as Json)["tools"] as { name: string }[]).map(({ name }) => name);
        const all = names(await direct("tools/list"));
        expect(names(await relayed("tools/list"))).toEqual(all.filter((name) => name !== "test_audio_content"));
        for (const name of ["test_audio_content", "no_such_tool"]) {
          const { body } = await relayed("tools/call", { name, arguments: {} });
          expect(body["error"]).toEqual({ code: -32602, message: `Unknown tool: ${name}` });
        }
      });
    });
  }

  it("is 404 where there is none of that name, with those there are", async () => {
    const response = await fetch(`${gateway.url}/mcp/upstreams/nobody`, {
      method: "POST",
      headers: HEADERS,
      body: "{}",
    });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("There are: fixture");
  });

  it("is 404 where the name is wrongly encoded", async () => {
    const url = `${gateway.url}/mcp/upstreams/%E0%A4%A`;
    expect((await fetch(url, { method: "POST", headers: HEADERS, body: "{}" })).status).toBe(404);
  });

  it("takes calls under the same limits as every other way", async () => {
    await using limited = new ToolArsenal({ telemetry: { enabled: false }, security: { maxRequestsPerMinute: 1 } });
    await limited.addMcpServer({ name: "fixture", transport: { kind: "http", url: fixture.url } });
    const served = await limited.serve({ port: 0 });
    const call = { name: "test_simple_text", arguments: {} };
    const send = modern(`${served.url}/mcp/upstreams/fixture`);
    expect((await send("tools/call", call)).body["result"]).not.toHaveProperty("isError");
    expect((await send("tools/call", call)).body["result"]).toMatchObject({
      isError: true,
      _meta: { "toolarsenal/error": { code: "RATE_LIMITED" } },
    });
    await served.close();
  });
});
