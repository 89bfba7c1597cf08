import { Readable } from "node:stream";
import { ArsenalError, isArsenalError } from "../../../../errors/arsenal-error.ts";
import type { Egress } from "../../../../guard/egress/egress.ts";
import { parseObject } from "../../parse-object.ts";

/** The part of `fetch` that the OAuth exchange uses. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** How requests to authorization servers are made. */
export interface GuardOptions {
  readonly signal?: AbortSignal | undefined;
  /** Headers of the MCP server's own settings: sent to its origin, and to no authorization server elsewhere. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly serverUrl: string;
  /** The authorization server that the operator named. Whatever else the MCP server points to is held to the rules of the way out. */
  readonly issuer?: string | undefined;
  /** Told when a token endpoint could not answer, as opposed to having refused. */
  readonly onOutage?: (why: string) => void;
}

const REQUEST_MS = 30_000;
const MAX_BYTES = 1024 * 1024;
const SECRET_FIELDS = ["refresh_token", "code", "code_verifier", "client_secret", "client_assertion", "access_token"];

/**
 * A `fetch` for the OAuth exchange: every request has a deadline, token requests follow no redirect, and no answer that quotes a secret of
 * ours gets to where it could be logged.
 */
export function oauthFetch(egress: Egress, options: GuardOptions): FetchLike {
  const { serverUrl, issuer } = options;
  const origin = new URL(serverUrl).origin;
  // Addresses that the operator wrote; what lies at another origin was written by others.
  const trusted = [serverUrl, issuer ?? serverUrl];
  const fetch = egressFetch(egress, trusted, Object.keys(options.headers ?? {}));

  return async (url, init = {}) => {
    const signals = [AbortSignal.timeout(REQUEST_MS), options.signal, init.signal].filter(
      (signal) => signal instanceof AbortSignal,
    );
    const headers = new Headers(new URL(url).origin === origin ? options.headers : undefined);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    const request: RequestInit = { ...init, headers, signal: AbortSignal.any(signals) };
    if (!(init.body instanceof URLSearchParams)) {
      const answer = await fetch(url, request).catch(toFetchFailure);
      return init.body === undefined || init.body === null ? withPlainAddresses(answer) : answer;
    }

    let response: Response;
    try {
      response = await fetch(url, { ...request, redirect: "error" });
    } catch (cause) {
      if (!isRefused(cause)) options.onOutage?.("could not be reached");
      return toFetchFailure(cause);
    }
    if (response.status >= 500) options.onOutage?.(`answered ${response.status}`);
    const text = await response.text();
    const answer = response.ok ? tokenAnswer(text) : withoutSecrets(text, secretsOf(init.body, headers));
    return new Response(answer, { status: response.status, headers: { "content-type": "application/json" } });
  };
}

function isRefused(error: unknown): error is ArsenalError {
  return isArsenalError(error) && error.code === "PERMISSION_DENIED";
}

/** A failure as the SDK and its users know it: whoever runs this can vouch for what was refused, and a server that is away is a `TypeError`. */
function toFetchFailure(error: unknown): never {
  if (isRefused(error)) {
    const fix =
      "If this is the server's authorization server and you trust it, name it as issuer under the server's oauth.";
    throw new ArsenalError("PERMISSION_DENIED", `${error.message} ${fix}`, { ...error.details, fix });
  }
  const isAway = isArsenalError(error) && error.code === "TRANSPORT_FAILED" && error.details.fix === undefined;
  throw isAway ? new TypeError(error.message, { cause: error }) : error;
}

/** Metadata that was looked at: the SDK drops a user's name from an authorization server's address, and asks what is left. */
async function withPlainAddresses(answer: Response): Promise<Response> {
  if (!answer.ok || answer.body === null) return answer;
  const text = await answer.text();
  const named = parseObject(text)?.["authorization_servers"];
  for (const server of Array.isArray(named) ? named : []) {
    const { username, password } = URL.parse(String(server)) ?? {};
    if (!username && !password) continue;
    const fix = "Ask the operator of the MCP server to fix its metadata.";
    const message = `The metadata names an authorization server with a user name or password in its address. ${fix}`;
    throw new ArsenalError("PERMISSION_DENIED", message, { field: "authorization_servers", fix });
  }
  return new Response(text, { status: answer.status, headers: answer.headers });
}

/** The answer of a token endpoint, where it is one; what else it may be is not repeated. */
function tokenAnswer(text: string): string {
  const answer = parseObject(text);
  if (typeof answer?.["access_token"] === "string" || typeof answer?.["error"] === "string") return text;
  throw new Error("The authorization server answered a token request with something that is no token.");
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

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * A `fetch` that goes the way of all requests, for code of others that knows no other way. Bodies are text or a form. `secretHeaders` names
 * headers that are not for another origin that an answer redirects to.
 */
function egressFetch(egress: Egress, trusted: readonly string[], secretHeaders: readonly string[]): FetchLike {
  const origins = new Set(trusted.map((url) => URL.parse(url)?.origin));
  return async (given, { method, headers: wanted, body, redirect, signal } = {}) => {
    const url = new URL(given);
    const headers = new Headers(wanted);
    const isForm = body instanceof URLSearchParams;
    if (isForm && !headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded");
    const answer = await egress.request(url, {
      trusted: origins.has(url.origin),
      maxBytes: MAX_BYTES,
      secretHeaders,
      headers: Object.fromEntries(headers),
      ...(redirect === "error" || redirect === "manual" ? { maxRedirects: 0 } : {}),
      ...(method === undefined ? {} : { method }),
      ...(isForm || typeof body === "string" ? { body: String(body) } : {}),
      ...(signal ? { signal } : {}),
    });
    const { status } = answer;
    if (redirect === "error" && status >= 300 && status < 400 && "location" in answer.headers) {
      answer.body.destroy();
      throw new TypeError(`${url.origin} answered with a redirect, which is not followed here`);
    }
    if (BODILESS.has(status)) answer.body.resume();
    const content = BODILESS.has(status) ? null : Readable.toWeb(answer.body as Readable);
    return new Response(content as ReadableStream<Uint8Array> | null, { status, headers: answer.headers });
  };
}
