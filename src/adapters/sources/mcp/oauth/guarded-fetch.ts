import { Readable } from "node:stream";
import { type ArsenalError, fixable, isArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Egress } from "../../../../guard/egress/egress.ts";
import { parseObject } from "../../parse-object.ts";

/** The part of `fetch` that the OAuth exchange uses. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

interface GuardOptions {
  readonly signal?: AbortSignal | undefined;
  /** Headers from the MCP server's settings. They are sent only to the server's origin, not to authorization servers elsewhere. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly serverUrl: string;
  /** The authorization server from the settings. Any other address, named by the MCP server, must pass the egress rules. */
  readonly issuer?: string | undefined;
  /** The identity provider from the settings. */
  readonly identity?: { readonly issuer: string; readonly tokenUrl?: string } | undefined;
  /** Called when a token endpoint failed to answer, but not when it refused. */
  readonly onOutage?: (why: string) => void;
}

const REQUEST_MS = 30_000;
const MAX_BYTES = 1024 * 1024;
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);
const SECRET_FIELDS = [
  "refresh_token",
  "code",
  "code_verifier",
  "client_secret",
  "client_assertion",
  "access_token",
  "subject_token",
  "assertion",
];

/**
 * Creates the `fetch` of the OAuth exchange. Every request has a deadline, token requests follow no redirects, and secrets are removed from responses
 * that quote them.
 */
export function oauthFetch(egress: Egress, options: GuardOptions): FetchLike {
  const { serverUrl, issuer = serverUrl, headers: own = {}, onOutage } = options;
  const { origin } = new URL(serverUrl);
  // Addresses from the settings. Other origins were named by the server.
  const named = [issuer, options.identity?.issuer ?? "", options.identity?.tokenUrl ?? ""];
  const trusted = new Set([origin, ...named.map((address) => URL.parse(address)?.origin)]);

  async function send(url: URL, headers: Headers, init: RequestInit): Promise<Response> {
    const { method, body, redirect, signal } = init;
    const signals = [AbortSignal.timeout(REQUEST_MS), options.signal, signal].filter((each) => each != null);
    const isForm = body instanceof URLSearchParams;
    const refusesRedirect = isForm || redirect === "error";
    if (isForm && !headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded");
    const answer = await egress.request(url, {
      trusted: trusted.has(url.origin),
      maxBytes: MAX_BYTES,
      secretHeaders: Object.keys(own),
      headers: Object.fromEntries(headers),
      signal: AbortSignal.any(signals),
      ...((refusesRedirect || redirect === "manual") && { maxRedirects: 0 }),
      ...(method !== undefined && { method }),
      ...((isForm || typeof body === "string") && { body: String(body) }),
    });
    const { status } = answer;
    if (refusesRedirect && status >= 300 && status < 400 && "location" in answer.headers) {
      answer.body.destroy();
      throw new TypeError(`${url.origin} answered with a redirect, which is not followed here`);
    }
    if (BODILESS.has(status)) answer.body.resume();
    const content = BODILESS.has(status) ? null : Readable.toWeb(answer.body as Readable);
    return new Response(content as ReadableStream<Uint8Array> | null, { status, headers: answer.headers });
  }

  return async (given, init = {}) => {
    const url = new URL(given);
    const headers = new Headers(url.origin === origin ? own : undefined);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    let response: Response;
    try {
      response = await send(url, headers, init);
    } catch (cause) {
      if (init.body instanceof URLSearchParams && !isRefused(cause)) onOutage?.("could not be reached");
      return toFetchFailure(cause);
    }
    if (init.body === undefined || init.body === null) return withPlainAddresses(response);
    if (!(init.body instanceof URLSearchParams)) return response;
    const { status } = response;
    if (status >= 500) onOutage?.(`answered ${status}`);
    const text = await response.text();
    const answer = response.ok ? tokenAnswer(text) : withoutSecrets(text, secretsOf(init.body, headers));
    return new Response(answer, { status, headers: { "content-type": "application/json" } });
  };
}

function isRefused(error: unknown): error is ArsenalError {
  return isArsenalError(error) && error.code === "PERMISSION_DENIED";
}

/**
 * Converts a failure for the SDK and its users. A refusal by the egress rules gets a fix for the operator. An unreachable server becomes a
 * `TypeError`.
 */
function toFetchFailure(error: unknown): never {
  if (isRefused(error)) {
    const fix =
      "If this is the server's authorization server and you trust it, name it as issuer under the server's oauth.";
    throw fixable("PERMISSION_DENIED", error.message, fix, error.details);
  }
  const isAway = isArsenalError(error) && error.code === "TRANSPORT_FAILED" && error.details.fix === undefined;
  throw isAway ? new TypeError(error.message, { cause: error }) : error;
}

/** Checks metadata first: the SDK would silently drop a user name from an authorization server's address. */
async function withPlainAddresses(answer: Response): Promise<Response> {
  if (!answer.ok || answer.body === null) return answer;
  const text = await answer.text();
  const named = parseObject(text)?.["authorization_servers"];
  for (const server of Array.isArray(named) ? named : []) {
    const { username, password } = URL.parse(String(server)) ?? {};
    if (!username && !password) continue;
    const problem = "The metadata names an authorization server with a user name or password in its address.";
    const fix = "Ask the operator of the MCP server to fix its metadata.";
    throw fixable("PERMISSION_DENIED", problem, fix, { field: "authorization_servers" });
  }
  return new Response(text, { status: answer.status, headers: answer.headers });
}

/** Returns the response of a token endpoint. Other content is not quoted. */
function tokenAnswer(text: string): string {
  const answer = parseObject(text);
  if (typeof answer?.["access_token"] === "string" || typeof answer?.["error"] === "string") return text;
  throw new Error("The authorization server answered a token request with something that is not a token.");
}

function secretsOf(body: URLSearchParams, headers: Headers): readonly string[] {
  const secrets = SECRET_FIELDS.flatMap((field) => body.getAll(field));
  const basic = /^Basic (.+)$/.exec(headers.get("authorization") ?? "")?.[1];
  if (basic !== undefined) secrets.push(basic, atob(basic).split(":").slice(1).join(":"));
  return secrets.filter((secret) => secret !== "");
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let cleaned = text;
  for (const secret of secrets) {
    for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
      cleaned = cleaned.replaceAll(spelling, "[secret]");
  }
  return cleaned;
}
