import { afterEach, describe, expect, it } from "vitest";
import type { OpenApiSettings } from "../../src/adapters/sources/openapi/settings.ts";
import { createSecrets } from "../../src/guard/secrets/secrets.ts";
import { openapiSource } from "../../src/adapters/sources/openapi/openapi.ts";
import { createEgress } from "../../src/guard/egress/egress.ts";
import { ToolArsenal } from "../../src/index.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { callOperation, documentOf, type EchoServer, type Sent, startEcho } from "./openapi-echo.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function started(...given: Parameters<typeof startEcho>): Promise<EchoServer> {
  const server = await startEcho(...given);
  closing.push(server.close);
  return server;
}

const securitySchemes = {
  header: { type: "apiKey", in: "header", name: "X-Key" },
  query: { type: "apiKey", in: "query", name: "key" },
  cookie: { type: "apiKey", in: "cookie", name: "session" },
  basic: { type: "http", scheme: "basic" },
  bearer: { type: "http", scheme: "Bearer" },
  oidc: { type: "openIdConnect", openIdConnectUrl: "https://id.test" },
  tls: { type: "mutualTLS" },
};
const secrets = createSecrets({ environment: { KEY: "k3y value", USER: "ann", WORD: "pass" } });

function secured(security: unknown): object {
  return documentOf({ "/it": { get: { operationId: "it", security } } }, { components: { securitySchemes } });
}

async function sendWith(security: unknown, settings: Partial<OpenApiSettings>): Promise<Sent> {
  const server = await started();
  const options = { parts: { secrets } };
  await callOperation({ document: secured(security), server: server.url, ...settings }, "it", {}, options);
  const [sent] = server.sent;
  if (sent === undefined) throw new Error("nothing was sent");
  return sent;
}

describe("credentials", () => {
  it.each([
    ["header", "env:KEY", "x-key", "k3y value"],
    ["cookie", "env:KEY", "cookie", "session=k3y%20value"],
    ["bearer", "env:KEY", "authorization", "Bearer k3y value"],
    ["oidc", () => "token", "authorization", "Bearer token"],
    ["basic", { username: "ann", password: "env:WORD" }, "authorization", "Basic YW5uOnBhc3M="],
    ["basic", { username: "env:USER" }, "authorization", "Basic YW5uOg=="],
  ] as const)("for %s are %j, sent as the header %s: %s", async (scheme, credential, header, value) => {
    const { headers } = await sendWith([{ [scheme]: [] }], { credentials: { [scheme]: credential } });
    expect(headers[header]).toBe(value);
  });

  it("for a key in the query stand there", async () => {
    expect((await sendWith([{ query: [] }], { credentials: { query: "env:KEY" } })).target).toBe("/it?key=k3y%20value");
  });

  it("are those of the first set that can be satisfied, all of it", async () => {
    const security = [{ tls: [] }, { basic: [] }, { header: [], bearer: [] }, { query: [] }];
    const credentials = { header: "env:KEY", bearer: "env:WORD", query: "env:KEY", tls: "env:KEY" } as const;
    const { headers, target } = await sendWith(security, { credentials });
    expect([headers["x-key"], headers.authorization, target]).toEqual(["k3y value", "Bearer pass", "/it"]);
  });

  it("of a set that lacks one are not sent", async () => {
    const credentials = { header: "env:KEY", query: "env:KEY" } as const;
    const { headers, target } = await sendWith([{ header: [], basic: [] }, { query: [] }], { credentials });
    expect([headers["x-key"], target]).toEqual([undefined, "/it?key=k3y%20value"]);
  });

  it("are sent where they are optional and there, and missed only where they are not optional", async () => {
    const { headers } = await sendWith([{}, { header: [] }], { credentials: { header: "env:KEY" } });
    expect(headers["x-key"]).toBe("k3y value");
    expect((await sendWith([{}, { header: [] }], {})).headers["x-key"]).toBeUndefined();
    expect((await sendWith([], { credentials: { header: "env:KEY" } })).headers["x-key"]).toBeUndefined();
    await expect(sendWith([{ tls: [] }, { header: [] }], {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message:
        "GET /it needs credentials: tls (mutualTLS, which is not supported), or header (key in the header X-Key). Set credentials.header.",
      details: { beforeSend: true },
    });
  });

  it("of the whole document hold for operations that say nothing", async () => {
    const server = await started();
    const document = documentOf(
      { "/it": { get: {} } },
      { components: { securitySchemes }, security: [{ bearer: [] }] },
    );
    await callOperation({ document, server: server.url, credentials: { bearer: () => "t" } }, "GET /it");
    expect(server.sent[0]?.headers.authorization).toBe("Bearer t");
  });

  it("can be headers of the operator's own, for a document that names none", async () => {
    const { headers } = await sendWith([{ tls: [] }], {
      headers: { Authorization: () => "token abc", "X-Plain": "v", "X-Env": "env:KEY" },
    });
    expect([headers.authorization, headers["x-plain"], headers["x-env"]]).toEqual(["token abc", "v", "k3y value"]);
  });

  it("are never written out: what is no reference is refused without being shown", async () => {
    const written = sendWith([{ bearer: [] }], { credentials: { bearer: "sk_live_123" as never } });
    await expect(written).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.not.stringContaining("sk_live") as string,
    });
    await expect(sendWith([{ bearer: [] }], { credentials: { bearer: "env:NONE" } })).rejects.toThrow(
      /refers to env:NONE: the variable is not set/,
    );
  });

  it("are asked of nobody: a parameter that is the key itself is no argument", async () => {
    const parameters = [{ name: "x-key", in: "header", required: true, schema: {} }];
    const paths = { "/it": { get: { parameters, security: [{ header: [] }] } } };
    const source = openapiSource({ name: "x", document: documentOf(paths, { components: { securitySchemes } }) });
    const { signal } = new AbortController();
    await source.connect({ signal });
    const [tool] = await source.list({ signal });
    expect(tool?.draft.parameters).toEqual({ type: "object", properties: {}, additionalProperties: false });
  });

  it("do not follow a redirect to another origin", async () => {
    const other = await started();
    const server = await started((_request, response) => response.writeHead(307, { location: other.url }).end());
    // A way out that takes loopback for the public internet.
    const egress = createEgress({}, { isPublic: () => true });
    const settings = {
      document: secured([{ header: [] }]),
      server: server.url,
      credentials: { header: "env:KEY" },
    } as const;
    await callOperation(settings, "it", {}, { parts: { secrets, egress } });
    egress.close();
    expect([server.sent[0]?.headers["x-key"], other.sent[0]?.headers["x-key"]]).toEqual(["k3y value", undefined]);
  });

  it("appear in no definition, no event and no error, even where the server repeats them", async () => {
    const server = await started((request, response) =>
      response
        .writeHead(400)
        .end(`bad key ${request.headers["x-key"]} in ${request.url} and ${request.headers.authorization}`),
    );
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    const seen: unknown[] = [];
    arsenal.subscribe((event) => seen.push(event));
    const document = secured([{ header: [], query: [], basic: [] }]);
    const credentials = {
      header: "env:KEY",
      query: "env:KEY",
      basic: { username: "ann", password: "env:WORD" },
    } as const;
    await arsenal.add(openapiSource({ name: "x", document, server: server.url, credentials }, { secrets }));
    const result = await arsenal.execute({ toolName: "x.it", arguments: {} });
    expect(result.error?.message).toBe(
      "GET /it answered 400 Bad Request: bad key [redacted] in /it?key=[redacted] and Basic [redacted]",
    );
    const shown = JSON.stringify([await arsenal.listTools(), result, seen]);
    for (const secret of ["k3y", "YW5uOnBhc3M="]) expect(shown).not.toContain(secret);
  });
});

describe("an error's long answer", () => {
  it("shows no half of a credential at its end", async () => {
    const server = await started((request, response) =>
      response.writeHead(400).end(`${"x".repeat(1997)}${request.headers["x-key"]} and more`),
    );
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    const credentials = { header: "env:KEY" } as const;
    const document = secured([{ header: [] }]);
    await arsenal.add(openapiSource({ name: "x", document, server: server.url, credentials }, { secrets }));
    const result = await arsenal.execute({ toolName: "x.it", arguments: {} });
    expect(result.error?.message).toMatch(/x\[re…$/);
  });
});

describe("OAuth 2 client credentials", () => {
  const issued = (lasts: number | undefined) => {
    let count = 0;
    return started((request, response) => {
      const body = request.url === "/token" ? { access_token: `token-${++count}`, expires_in: lasts } : {};
      const refused = request.url === "/api/it" && request.headers.authorization === "Bearer token-2";
      response.writeHead(refused ? 401 : 200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  };
  const document = (tokenUrl: string): object =>
    documentOf(
      { "/it": { get: { security: [{ oauth: ["read", "write"] }] } } },
      {
        components: {
          securitySchemes: { oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl, scopes: {} } } } },
        },
      },
    );
  const oauth = { clientId: "me & you", clientSecret: "env:WORD" } as const;

  async function offered(server: EchoServer, credential: object = oauth) {
    const clock = createManualClock(0);
    const source = openapiSource(
      {
        name: "x",
        document: document(`${server.url}/token`),
        server: `${server.url}/api`,
        credentials: { oauth: credential as typeof oauth },
      },
      { secrets, clock },
    );
    closing.unshift(() => source.disconnect());
    const { signal } = new AbortController();
    await source.connect({ signal });
    const [tool] = await source.list({ signal });
    const call = async (): Promise<unknown> => tool?.handler({}, { signal } as never);
    return { call, clock };
  }
  const tokensOf = ({ sent }: EchoServer): readonly unknown[] =>
    sent.flatMap(({ target, headers }) => (target === "/api/it" ? [headers.authorization] : []));

  it("fetch one token, for calls at the same time and until it expires", async () => {
    const server = await issued(60);
    const { call, clock } = await offered(server);
    await Promise.all([call(), call()]);
    await clock.advance(49_000);
    await call();
    expect(tokensOf(server)).toEqual(["Bearer token-1", "Bearer token-1", "Bearer token-1"]);
    expect(server.sent[0]).toMatchObject({
      method: "POST",
      target: "/token",
      body: "grant_type=client_credentials&scope=read+write",
      headers: { authorization: `Basic ${Buffer.from("me+%26+you:pass").toString("base64")}` },
    });
    await clock.advance(2000);
    await expect(call()).rejects.toMatchObject({ code: "EXECUTION_FAILED" });
    // The server refused the second one, so the next call fetches a third.
    await call();
    expect(tokensOf(server).at(-1)).toBe("Bearer token-3");
  });

  it("can be sent in the body, with scopes of one's own", async () => {
    const server = await issued(undefined);
    const { call } = await offered(server, { ...oauth, sendIn: "body", scopes: ["all"] });
    await call();
    expect(server.sent[0]?.body).toBe(
      "grant_type=client_credentials&scope=all&client_id=me+%26+you&client_secret=pass",
    );
    expect(server.sent[0]?.headers.authorization).toBeUndefined();
  });

  it("that are refused say so without the secret, before anything else is sent", async () => {
    const server = await started((_request, response) =>
      response.writeHead(400).end('{"error":"invalid_client","error_description":"pass"}'),
    );
    const { call } = await offered(server);
    await expect(call()).rejects.toMatchObject({
      code: "TRANSPORT_FAILED",
      message: "No token for oauth: the server answered HTTP 400 invalid_client. Check credentials.oauth.",
      details: { beforeSend: true },
    });
    expect(server.sent.length).toBe(1);
  });
});
