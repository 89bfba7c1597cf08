/** A real authorization server and an MCP server that accepts its tokens alone, both on loopback, for tests of logins. */
import { createHash, randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** One request that the authorization server got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The query, or the body of a form; a registration's document under `json`. */
  readonly params: Readonly<Record<string, string>>;
  readonly json?: Readonly<Record<string, unknown>>;
}

/** How the servers behave; tests change it while they run. */
export interface Behaviour {
  /** The `iss` of the redirect. Default: the right one. */
  iss?: string | undefined;
  /** The `issuer` of the metadata document. Default: the right one. */
  issuer?: string;
  /** What the person says. Default: yes. */
  declined?: boolean;
  registration?: boolean;
  clientDocuments?: boolean;
  /** Answers a token request otherwise, where it returns something. */
  token?: (params: Readonly<Record<string, string>>) => { readonly status: number; readonly body: string } | undefined;
  /** Tools are listed after this. */
  beforeListing?: () => Promise<void>;
}

/** Both servers. */
export interface ProtectedServer {
  readonly url: string;
  readonly issuer: string;
  readonly behaviour: Behaviour;
  /** What the authorization server got, oldest first. */
  readonly received: readonly Received[];
  /** Secrets it gave out: tokens, codes, client secrets. */
  readonly secrets: readonly string[];
  /** The headers of the last request to the MCP server. */
  readonly lastHeaders: IncomingHttpHeaders;
  requestsTo(path: string): readonly Received[];
  /** A token with this scope. */
  grant(scope: string): string;
  /** Makes every access token that was given out so far worthless. */
  expireTokens(): void;
  close(): Promise<void>;
}

/** Starts both. Listing tools takes the scope `read`, calling one `write`. */
export async function startProtectedServer(behaviour: Behaviour = {}): Promise<ProtectedServer> {
  const received: Received[] = [];
  const secrets: string[] = [];
  const codes = new Map<string, { readonly challenge: string; readonly redirectUri: string; readonly scope: string }>();
  const accessTokens = new Map<string, string>();
  const refreshTokens = new Map<string, string>();
  let lastHeaders: IncomingHttpHeaders = {};

  function secret<Kept>(kind: string, kept: Map<string, Kept>, value: Kept): string {
    const given = `${kind}-${randomUUID()}`;
    kept.set(given, value);
    secrets.push(given);
    return given;
  }

  const authorization = createServer((request, response) => void answerAuthorization(request, response));
  const mcp = createServer((request, response) => void answerMcp(request, response));
  const issuer = await listen(authorization);
  const origin = await listen(mcp);
  const url = `${origin}/mcp`;

  async function answerAuthorization(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    const body = await text(request);
    const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
    const params = Object.fromEntries(request.method === "POST" && !isJson ? new URLSearchParams(body) : searchParams);
    const json = isJson ? (JSON.parse(body) as Record<string, unknown>) : undefined;
    received.push({ path: pathname, headers: request.headers, params, ...(json === undefined ? {} : { json }) });
    switch (pathname) {
      case "/.well-known/oauth-authorization-server":
        return send(response, 200, {
          issuer: behaviour.issuer ?? issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          ...(behaviour.registration === false ? {} : { registration_endpoint: `${issuer}/register` }),
          ...(behaviour.clientDocuments === true ? { client_id_metadata_document_supported: true } : {}),
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
        });
      case "/register":
        return send(response, 201, { ...json, client_id: `client-${randomUUID()}` });
      case "/authorize": {
        const { redirect_uri: redirectUri = "", state = "", code_challenge: challenge = "", scope = "" } = params;
        const answer = new URL(redirectUri);
        if (behaviour.declined === true) answer.searchParams.set("error", "access_denied");
        else answer.searchParams.set("code", secret("code", codes, { challenge, redirectUri, scope }));
        answer.searchParams.set("state", state);
        const iss = "iss" in behaviour ? behaviour.iss : issuer;
        if (iss !== undefined) answer.searchParams.set("iss", iss);
        response.writeHead(302, { location: answer.href }).end();
        return;
      }
      case "/token": {
        const other = behaviour.token?.(params);
        if (other !== undefined) return void response.writeHead(other.status).end(other.body);
        const scope = grantedScope(params);
        if (scope === undefined) return send(response, 400, { error: "invalid_grant" });
        return send(response, 200, {
          access_token: secret("access", accessTokens, scope),
          token_type: "Bearer",
          ...(params["grant_type"] === "client_credentials"
            ? {}
            : { refresh_token: secret("refresh", refreshTokens, scope) }),
        });
      }
      default:
        return send(response, 404, {});
    }
  }

  /** What a token request is granted. Codes and refresh tokens work once. */
  function grantedScope(params: Readonly<Record<string, string>>): string | undefined {
    const { grant_type: grant, code = "", code_verifier: verifier = "", refresh_token: refresh = "" } = params;
    if (grant === "client_credentials") return params["scope"] ?? "";
    if (grant === "refresh_token") {
      const scope = refreshTokens.get(refresh);
      refreshTokens.delete(refresh);
      return scope;
    }
    const given = codes.get(code);
    codes.delete(code);
    const proven = given?.challenge === createHash("sha256").update(verifier).digest("base64url");
    return proven && given.redirectUri === params["redirect_uri"] ? given.scope : undefined;
  }

  async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const metadataUrl = `${origin}/metadata-of-mcp`;
    if (request.url === "/metadata-of-mcp")
      return send(response, 200, {
        resource: url,
        authorization_servers: [issuer],
        scopes_supported: ["read", "write"],
      });
    if (request.url !== "/mcp" || request.method !== "POST") return send(response, 405, {});
    lastHeaders = request.headers;
    const { id, method } = JSON.parse(await text(request)) as { id?: number; method: string };
    const scope = accessTokens.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
    const challenge = `resource_metadata="${metadataUrl}"`;
    if (scope === undefined)
      return send(response, 401, {}, { "www-authenticate": `Bearer scope="read", ${challenge}` });
    if (method === "tools/call" && !scope.split(" ").includes("write")) {
      const header = `Bearer error="insufficient_scope", scope="write", ${challenge}`;
      return send(response, 403, {}, { "www-authenticate": header });
    }
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list") await behaviour.beforeListing?.();
    const result = RESULTS[method];
    const unknown = { code: -32_601, message: "Method not found" };
    send(response, 200, { jsonrpc: "2.0", id, ...(result === undefined ? { error: unknown } : { result }) });
  }

  return {
    url,
    issuer,
    behaviour,
    received,
    secrets,
    get lastHeaders() {
      return lastHeaders;
    },
    requestsTo: (path) => received.filter((each) => each.path === path),
    grant: (scope) => secret("access", accessTokens, scope),
    expireTokens: () => accessTokens.clear(),
    close: async () => void (await Promise.all([authorization, mcp].map(stop))),
  };
}

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "protected", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "note", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "noted" }] },
};

/** What a browser does with an address: visits it, and follows where it is sent. `change` plays whoever sits in between. */
export async function visit(url: string, change: (redirect: URL) => void = () => {}): Promise<Response> {
  const response = await fetch(url, { redirect: "manual" });
  await response.body?.cancel();
  const redirect = new URL(response.headers.get("location") ?? "");
  change(redirect);
  return fetch(redirect);
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise((done) => void server.close(done));
  server.closeAllConnections();
  await closed;
}
