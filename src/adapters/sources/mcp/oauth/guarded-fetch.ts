/** The part of `fetch` that MCP transports use. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** How requests to authorization servers are made. */
export interface GuardOptions {
  readonly signal?: AbortSignal;
  /** Headers of the MCP server's own settings: sent to its origin, and to no authorization server elsewhere. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly serverUrl: string;
  /** Told when a token endpoint could not answer, as opposed to having refused. */
  readonly onOutage?: (why: string) => void;
}

const REQUEST_MS = 30_000;
const SECRET_FIELDS = ["refresh_token", "code", "code_verifier", "client_secret", "client_assertion", "access_token"];

/**
 * A `fetch` for the OAuth exchange: every request has a deadline, token requests follow no redirect, and no answer that quotes a secret of
 * ours gets to where it could be logged.
 */
export function guardFetch(fetch: FetchLike, options: GuardOptions): FetchLike {
  const origin = new URL(options.serverUrl).origin;

  return async (url, init = {}) => {
    const signals = [AbortSignal.timeout(REQUEST_MS), options.signal, init.signal].filter(
      (signal) => signal instanceof AbortSignal,
    );
    const headers = new Headers(new URL(url).origin === origin ? options.headers : undefined);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    const request: RequestInit = { ...init, headers, signal: AbortSignal.any(signals) };
    if (!(init.body instanceof URLSearchParams)) return fetch(url, request);

    let response: Response;
    try {
      response = await fetch(url, { ...request, redirect: "error" });
    } catch (cause) {
      options.onOutage?.("could not be reached");
      throw cause;
    }
    if (response.status >= 500) options.onOutage?.(`answered ${response.status}`);
    const text = await response.text();
    const answer = response.ok ? tokenAnswer(text) : withoutSecrets(text, secretsOf(init.body, headers));
    return new Response(answer, { status: response.status, headers: { "content-type": "application/json" } });
  };
}

/** The answer of a token endpoint, where it is one; what else it may be is not repeated. */
function tokenAnswer(text: string): string {
  try {
    const answer = JSON.parse(text) as Record<string, unknown> | null;
    if (typeof answer?.["access_token"] === "string" || typeof answer?.["error"] === "string") return text;
  } catch {
    // Said below, without the text: a parser's message quotes it.
  }
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
