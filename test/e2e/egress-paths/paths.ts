import { jwtIdentity } from "../../../src/adapters/identity/jwt/jwt.ts";
import { a2aSource } from "../../../src/adapters/sources/a2a/a2a.ts";
import type { A2aAgentSettings } from "../../../src/adapters/sources/a2a/settings.ts";
import { builtinSource } from "../../../src/adapters/sources/builtin/builtin.ts";
import { connect } from "../../../src/adapters/sources/mcp/connection/connect.ts";
import type { McpServerSettings } from "../../../src/adapters/sources/mcp/settings.ts";
import { openapiSource } from "../../../src/adapters/sources/openapi/openapi.ts";
import type { OpenApiSettings } from "../../../src/adapters/sources/openapi/settings.ts";
import { createApprovalWebhook } from "../../../src/guard/approvals/approval-webhook.ts";
import type { Egress } from "../../../src/guard/egress/egress.ts";
import { systemClock } from "../../../src/observe/clock.ts";
import type { Source } from "../../../src/register/source.port.ts";
import type { HandlerContext } from "../../../src/tool/handler.ts";

/** What a path is tried with. */
export interface Attempt {
  readonly egress: Egress;
  /** Of the accomplice, which points to the target. */
  readonly origin: string;
  readonly target: string;
}

/** A way by which somebody can have the program request an address of their choice. */
export interface EgressPath {
  readonly name: string;
  /** False where the program goes nowhere that way, not even to public addresses. */
  readonly reaches: boolean;
  /** Rejects where the address could not be requested or did not answer. */
  request(attempt: Attempt): Promise<unknown>;
}

const { signal } = new AbortController();

/** Calls the only tool of a source. */
async function callTool(source: Source, args: Record<string, unknown>): Promise<unknown> {
  try {
    await source.connect({ signal });
    const [tool] = await source.list({ signal });
    return await tool?.handler(args, { signal } as unknown as HandlerContext);
  } finally {
    await source.disconnect();
  }
}

function document(server: string, tokenUrl?: string): object {
  const flows = { clientCredentials: { tokenUrl, scopes: {} } };
  return {
    openapi: "3.1.0",
    info: { title: "An API", version: "1" },
    servers: [{ url: server }],
    paths: { "/x": { get: { operationId: "x", responses: {}, ...(tokenUrl ? { security: [{ auth: [] }] } : {}) } } },
    ...(tokenUrl ? { components: { securitySchemes: { auth: { type: "oauth2", flows } } } } : {}),
  };
}

function callApi(settings: Omit<OpenApiSettings, "name">, egress: Egress): Promise<unknown> {
  return callTool(openapiSource({ name: "api", ...settings }, { egress }), {});
}

function askAgent(settings: Omit<A2aAgentSettings, "name">, egress: Egress): Promise<unknown> {
  return callTool(a2aSource({ name: "agent", ...settings }, { egress }), { message: "hello" });
}

async function connectMcp(transport: McpServerSettings["transport"], egress: Egress): Promise<void> {
  const identity = { info: { name: "test", version: "1" }, capabilities: {} };
  const connection = await connect({ name: "server", transport }, { egress, identity });
  await connection.close();
}

function logInTo(url: string, egress: Egress): Promise<void> {
  const oauth = { grant: "client_credentials", clientId: "job", clientSecret: "secret-of-the-job" } as const;
  return connectMcp({ kind: "http", url, oauth }, egress);
}

async function identify(issuer: string, egress: Egress): Promise<unknown> {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "RS256", kid: "1" })}.${part({ iss: issuer })}.AAAA`;
  return jwtIdentity({ issuer, audience: "x", egress }).authenticate({ headers: { authorization: `Bearer ${token}` } });
}

/** Rejects with what the webhook has to say of its failure. */
async function tellWebhook(url: string, egress: Egress): Promise<void> {
  const failed = Promise.withResolvers<void>();
  const approval = { id: "1", toolId: "a.b", arguments: {}, requestedBy: "x", reason: "y", state: "pending" as const };
  const webhook = createApprovalWebhook({
    url: new URL(url),
    egress,
    clock: systemClock,
    find: async () => ({ ...approval, requestedAt: 0, expiresAt: 0 }),
    describe: () => ({ sha256: "", shape: {} }),
    emit: (_name, data) => failed.reject(new Error(JSON.stringify(data))),
  });
  webhook.watching(() => {})("confirmation-requested", { id: "1", toolId: "a.b", principal: "x", reason: "y" });
  try {
    await failed.promise;
  } finally {
    await webhook.close();
  }
}

/** Every way there is. Whoever adds one to the program adds it here. */
export const PATHS: readonly EgressPath[] = [
  {
    name: "http_get: the argument",
    reaches: true,
    request: ({ egress, target }) => callTool(builtinSource({ tools: ["http-get"] }, { egress }), { url: target }),
  },
  {
    name: "web_search: a redirect",
    reaches: false,
    request: ({ egress, origin }) => {
      const webSearch = { url: origin, apiKey: () => "key-of-the-search" };
      return callTool(builtinSource({ tools: ["web-search"], webSearch }, { egress }), { query: "x" });
    },
  },
  {
    name: "OpenAPI: the server that the document names",
    reaches: true,
    request: ({ egress, target }) => callApi({ document: document(target) }, egress),
  },
  {
    name: "OpenAPI: a redirect of the operator's server",
    reaches: true,
    request: ({ egress, origin }) =>
      callApi(
        { document: { ...document(origin), paths: { "/redirect": { get: { responses: {} } } } }, server: origin },
        egress,
      ),
  },
  {
    name: "OpenAPI: a redirect of the document",
    reaches: true,
    request: ({ egress, origin }) => callApi({ document: `${origin}/redirect` }, egress),
  },
  {
    name: "OpenAPI: the token endpoint that the document names",
    reaches: true,
    request: ({ egress, origin, target }) => {
      const credentials = { auth: { clientId: "job", clientSecret: () => "secret-of-the-job" } };
      return callApi({ document: document(origin, target), server: origin, credentials }, egress);
    },
  },
  {
    name: "A2A: a redirect of the card",
    reaches: true,
    // No agent is found below this address, and then the address itself is asked.
    request: ({ egress, origin }) => askAgent({ url: `${origin}/redirect` }, egress),
  },
  {
    name: "A2A: the address that the card names",
    reaches: true,
    request: ({ egress, origin }) => askAgent({ url: `${origin}/agents/elsewhere.json` }, egress),
  },
  {
    name: "A2A: a redirect of the agent",
    reaches: false,
    request: ({ egress, origin }) => askAgent({ url: `${origin}/agents/redirecting.json` }, egress),
  },
  {
    name: "A2A: the token endpoint that the card names",
    reaches: false,
    request: ({ egress, origin }) => {
      const credentials = { auth: { clientId: "job", clientSecret: () => "secret-of-the-job" } };
      return askAgent({ url: `${origin}/agents/issuer.json`, credentials }, egress);
    },
  },
  {
    name: "MCP over HTTP: a redirect",
    reaches: true,
    request: ({ egress, origin }) => connectMcp({ kind: "http", url: `${origin}/redirect` }, egress),
  },
  {
    name: "MCP over SSE: a redirect",
    reaches: false,
    request: ({ egress, origin }) => connectMcp({ kind: "sse", url: `${origin}/redirect` }, egress),
  },
  {
    name: "MCP over SSE: the endpoint that the stream names",
    reaches: false,
    request: ({ egress, origin }) => connectMcp({ kind: "sse", url: `${origin}/sse` }, egress),
  },
  {
    name: "MCP over WebSocket: a redirect",
    reaches: false,
    request: ({ egress, origin }) =>
      connectMcp({ kind: "websocket", url: `${origin.replace("http", "ws")}/redirect` }, egress),
  },
  {
    name: "MCP login: the metadata that the server names",
    reaches: true,
    request: ({ egress, origin }) => logInTo(`${origin}/asks/metadata`, egress),
  },
  {
    name: "MCP login: the authorization server that the metadata names",
    reaches: true,
    request: ({ egress, origin }) => logInTo(`${origin}/asks/issuer`, egress),
  },
  {
    name: "MCP login: the token endpoint that the authorization server names",
    reaches: true,
    request: ({ egress, origin }) => logInTo(`${origin}/asks/token`, egress),
  },
  {
    name: "callers' tokens: the keys that the issuer names",
    reaches: true,
    request: ({ egress, origin }) => identify(origin, egress),
  },
  {
    name: "callers' tokens: a redirect of the issuer",
    reaches: false,
    request: ({ egress, origin }) => identify(`${origin}/moved`, egress),
  },
  {
    name: "approval webhook: a redirect",
    reaches: false,
    request: ({ egress, origin }) => tellWebhook(`${origin}/redirect`, egress),
  },
];
