import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sendJson, startPlainServer } from "../../../../test/a2a/plain-server.ts";
import { startTestAgent, type TestAgent } from "../../../../test/a2a/test-agent.ts";
import { TEST_AUTHORITY, TEST_SERVER_ONE, TEST_SERVER_TWO } from "../../../../test/test-certificates.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import type { ToolResult } from "../../../execute/result.ts";
import type { A2aAgentSettings } from "./settings.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

const SECRET = "s3cr3t-0123456789";
const environment = { SECRET };

async function hello(agent: Pick<TestAgent, "url">, settings: Partial<A2aAgentSettings> = {}): Promise<ToolResult> {
  const arsenal = cleanUp.use(new ToolArsenal({ environment }));
  await arsenal.addA2aAgent({ name: "weather", url: agent.url, refreshS: 0, ...settings });
  return arsenal.execute({ toolName: "a2a_weather_forecast", arguments: { message: "hello" } });
}

/** An agent that is called only by those that pass the check. Its card is open. */
async function guarded(scheme: object, passes: (request: IncomingMessage) => boolean, version?: "1.0" | "0.3") {
  return cleanUp.use(
    await startTestAgent({
      ...(version === undefined ? {} : { version }),
      card: { securitySchemes: { lock: scheme }, securityRequirements: [{ schemes: { lock: { list: ["read"] } } }] },
      refuse: (request) => (request.url?.startsWith("/agent") && !passes(request) ? 401 : undefined),
    }),
  );
}

const apiKey = (location: string) => ({ apiKeySecurityScheme: { location, name: "the-key", description: "" } });
const http = (scheme: string) => ({ httpAuthSecurityScheme: { scheme, bearerFormat: "", description: "" } });
const bearer = ({ headers }: IncomingMessage): boolean => headers.authorization === `Bearer ${SECRET}`;
const basic = Buffer.from(`ada:${SECRET}`).toString("base64");

const CASES = [
  ["a key in a header", apiKey("header"), "env:SECRET", ({ headers }) => headers["the-key"] === SECRET],
  ["a key in the query", apiKey("query"), "env:SECRET", ({ url }) => url?.endsWith(`?the-key=${SECRET}`)],
  ["a key in a cookie", apiKey("cookie"), "env:SECRET", ({ headers }) => headers.cookie === `the-key=${SECRET}`],
  ["a bearer token", http("Bearer"), "env:SECRET", bearer],
  [
    "a name and a password",
    http("basic"),
    { username: "ada", password: "env:SECRET" },
    ({ headers }) => headers.authorization === `Basic ${basic}`,
  ],
  [
    "an OpenID Connect token",
    { openIdConnectSecurityScheme: { openIdConnectUrl: "https://id.test" } },
    "env:SECRET",
    bearer,
  ],
] as const satisfies readonly (readonly [
  string,
  object,
  NonNullable<A2aAgentSettings["credentials"]>[string],
  (request: IncomingMessage) => boolean | undefined,
])[];

describe.each(["1.0", "0.3"] as const)("an agent of %s that wants", (version) => {
  it.each(CASES)("%s gets it", async (_what, scheme, credential, passes) => {
    const agent = await guarded(scheme, (request) => passes(request) === true, version);
    const settings = { credentials: { lock: credential } };
    expect(await hello(agent, settings)).toMatchObject({ status: "success", result: { text: "Hello yourself" } });
  });

  it.each(CASES)("%s is not called without it: the error names scheme and setting", async (_what, scheme) => {
    const agent = await guarded(scheme, () => true, version);
    const { error } = await hello(agent);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", fix: "Set credentials.lock." });
    expect(error?.message).toMatch(/^weather needs credentials: lock \(.+\)\. Set credentials\.lock\.$/);
    expect(agent.runs).toEqual([]);
  });
});

describe("OAuth 2 client credentials", () => {
  const flow = (tokenUrl: string) => ({
    oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: {} } } },
  });
  const credential = { clientId: "arsenal", clientSecret: "env:SECRET" } as const;

  async function tokenServer() {
    return cleanUp.use(
      await startPlainServer({
        "/token": (response, _body, request) => {
          const expected = `Basic ${Buffer.from(`arsenal:${SECRET}`).toString("base64")}`;
          if (request.headers.authorization !== expected) return sendJson(response, { error: "invalid_client" }, 401);
          sendJson(response, { access_token: "fresh-token-0123456789", token_type: "bearer", expires_in: 600 });
        },
      }),
    );
  }
  const hasToken = ({ headers }: IncomingMessage): boolean => headers.authorization === "Bearer fresh-token-0123456789";

  it("get a token where the operator says", async () => {
    const issuer = await tokenServer();
    const agent = await guarded(flow("https://evil.test/token"), hasToken);
    const lock = { ...credential, tokenUrl: `${issuer.url}/token` };
    expect(await hello(agent, { credentials: { lock } })).toMatchObject({ status: "success" });
  });

  it("are never sent to another origin that only the card names", async () => {
    const issuer = await tokenServer();
    const agent = await guarded(flow(`${issuer.url}/token`), hasToken);
    const { error } = await hello(agent, { credentials: { lock: credential } });
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      fix: `Set token_url: ${issuer.url}/token in the credential, if you trust it.`,
    });
    expect(issuer.paths).toEqual([]);
  });
});

describe("other ways in", () => {
  it("in the url are refused, and not shown", async () => {
    const url = `http://ada:${SECRET}@127.0.0.1:9`;
    const refused = await hello({ url }).catch((error: unknown) => String(error));
    expect(refused).toMatch(/url carries a user name or password\. Set the agent's credentials instead\./);
    expect(refused).not.toContain(SECRET);
  });

  it("headers of the operator go with the card and the calls", async () => {
    const agent = cleanUp.use(
      await startTestAgent({ refuse: ({ headers }) => (headers["x-key"] === SECRET ? undefined : 403) }),
    );
    expect(await hello(agent, { headers: { "x-key": "env:SECRET" } })).toMatchObject({ status: "success" });
    await expect(hello(agent)).rejects.toThrow(/answered HTTP 403\. Set the agent's headers\./);
  });

  it("a refused credential is a failure that says so, without the credential", async () => {
    const agent = await guarded(http("bearer"), () => false);
    const { error } = await hello(agent, { credentials: { lock: "env:SECRET" } });
    expect(error).toMatchObject({
      code: "EXECUTION_FAILED",
      message:
        "The agent weather answered HTTP 401 Unauthorized: Who are you? Check the agent's credentials and headers.",
    });
    expect(JSON.stringify(error)).not.toContain(SECRET);
  });

  it("a client certificate is shown to an agent that asks for one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "arsenal-"));
    cleanUp.defer(() => rm(folder, { recursive: true }));
    const [cert, key, ca] = [join(folder, "cert.pem"), join(folder, "key.pem"), join(folder, "ca.pem")];
    await Promise.all([
      writeFile(cert, TEST_SERVER_TWO.cert),
      writeFile(key, TEST_SERVER_TWO.key),
      writeFile(ca, TEST_AUTHORITY),
    ]);
    const agent = cleanUp.use(
      await startTestAgent({
        tls: { ...TEST_SERVER_ONE, ca: TEST_AUTHORITY, requestCert: true, rejectUnauthorized: true },
        card: {
          securitySchemes: { lock: { mtlsSecurityScheme: { description: "" } } },
          securityRequirements: [{ schemes: { lock: { list: [] } } }],
        },
      }),
    );
    expect(await hello(agent, { tls: { cert, key, ca } })).toMatchObject({ status: "success" });
    await expect(hello(agent, { tls: { cert: join(folder, "none.pem"), key, ca } })).rejects.toThrow(
      /The client certificate of weather cannot be read: .+none\.pem\. Check tls\.cert\./,
    );
    const open = cleanUp.use(
      await startTestAgent({
        card: {
          securitySchemes: { lock: { mtlsSecurityScheme: { description: "" } } },
          securityRequirements: [{ schemes: { lock: { list: [] } } }],
        },
      }),
    );
    expect((await hello(open)).error).toMatchObject({
      code: "CONFIG_INVALID",
      message: "weather needs credentials: lock (a client certificate). Set tls.cert and tls.key.",
    });
  });
});
