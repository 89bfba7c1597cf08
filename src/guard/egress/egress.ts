import { lookup as systemLookup, type LookupAddress } from "node:dns";
import http, { type IncomingMessage, type RequestOptions } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { checkUrl, type EgressRules, hostOf } from "./check-url.ts";
import { decoded, ENCODINGS } from "./decoded.ts";
import { isPublicAddress } from "./public-address.ts";

/** A request that leaves the program. */
export interface EgressRequest extends EgressRules {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of headers that carry secrets, beside authorization and cookie: dropped where a redirect leads to another origin. */
  readonly secretHeaders?: readonly string[];
  /** Text and bytes can be sent again after a redirect; a stream cannot. */
  readonly body?: string | Uint8Array | Readable;
  readonly signal?: AbortSignal;
  /** Redirects that are followed. Default 5; 0 hands the redirect back. */
  readonly maxRedirects?: number;
  /** True where `allowPrivate` holds for the address itself and not for other origins that it redirects to. */
  readonly publicRedirects?: boolean;
  /** Bytes of the answer's body, decompressed, that are read before it is given up. Default 16 MiB; Infinity for a stream that need not end. */
  readonly maxBytes?: number;
}

/** An answer. Its body must be read or destroyed. */
export interface EgressResponse {
  readonly status: number;
  /** Lower-case names; several of one name joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  /** Decompressed. Fails with PROTOCOL_ERROR where it is longer than allowed. */
  readonly body: Readable;
}

/** The way out of the program: every request to a server goes through it. */
export interface Egress {
  /** Rejects with PERMISSION_DENIED before a socket is opened where the address, or one that its name resolves to, may not be reached. */
  request(url: string | URL, request?: EgressRequest): Promise<EgressResponse>;
  /** Closes idle connections. */
  close(): void;
}

/** Resolves a name to its addresses. */
export type Resolve = (
  host: string,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** A kept connection is closed by us after this time without a request, before most servers close it, perhaps while one is on its way. */
const IDLE_MS = 4000;
const MAX_REDIRECTS = 5;
const MAX_BYTES = 16 * 1024 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const SECRET_HEADERS: readonly string[] = ["authorization", "cookie", "proxy-authorization"];

/** What the way out can be given. */
export interface EgressParts {
  readonly resolve?: Resolve;
  /** Which addresses anybody may reach. */
  readonly isPublic?: (address: string) => boolean;
}

/** Creates the way out. `rules` hold for every request; a request can narrow the domains, and only its own `allowPrivate` lets it in. */
export function createEgress(rules: EgressRules = {}, parts: EgressParts = {}): Egress {
  const { resolve = resolveAll, isPublic = isPublicAddress } = parts;
  // A kept connection was checked when it was made; those to private addresses are kept apart from the others.
  const agents = [false, true].map((allowPrivate) => {
    const options = {
      keepAlive: true,
      timeout: IDLE_MS,
      lookup: checkedLookup(resolve, allowPrivate ? () => true : isPublic),
    };
    return { "http:": new http.Agent(options), "https:": new https.Agent({ ...options, rejectUnauthorized: true }) };
  });

  async function request(given: string | URL, asked: EgressRequest = {}): Promise<EgressResponse> {
    let allowPrivate = asked.allowPrivate ?? rules.allowPrivate ?? false;
    let url = checked(given, asked, allowPrivate);
    let { method = "GET", headers = {}, body } = asked;
    for (let followed = 0; ; followed++) {
      const answer = await send(url, { method, headers, body, signal: asked.signal, allowPrivate });
      const target = REDIRECTS.has(answer.statusCode ?? 0) ? answer.headers.location : undefined;
      const { maxRedirects = MAX_REDIRECTS } = asked;
      if (target === undefined || maxRedirects === 0) return toResponse(answer, url, asked.maxBytes ?? MAX_BYTES);
      answer.destroy();
      if (followed >= maxRedirects) throw failed(url, `it redirected more than ${maxRedirects} times`);
      const to = new URL(target, url);
      if (asked.publicRedirects === true && to.origin !== url.origin) allowPrivate = rules.allowPrivate ?? false;
      const next = checked(to, asked, allowPrivate);
      if (next.origin !== url.origin) headers = withoutSecrets(headers, asked.secretHeaders);
      const becomesGet =
        answer.statusCode === 303 || (answer.statusCode !== 307 && answer.statusCode !== 308 && method === "POST");
      if (becomesGet)
        ({ method, headers, body } = { method: "GET", headers: withoutBodyHeaders(headers), body: undefined });
      else if (typeof body === "object" && !(body instanceof Uint8Array))
        throw failed(url, "it redirected a request whose body cannot be sent twice");
      url = next;
    }
  }

  /** The rules of the program and of the request both hold. */
  function checked(url: string | URL, asked: EgressRequest, allowPrivate: boolean): URL {
    const passed = checkUrl(url, { ...rules, allowPrivate }, isPublic);
    return asked.allowedDomains === undefined ? passed : checkUrl(passed, { ...asked, allowPrivate }, isPublic);
  }

  function send(
    url: URL,
    sent: Pick<EgressRequest, "method" | "headers"> & {
      readonly body: EgressRequest["body"];
      readonly signal: AbortSignal | undefined;
      readonly allowPrivate: boolean;
    },
  ): Promise<IncomingMessage> {
    const { method, headers = {}, body, signal, allowPrivate } = sent;
    return new Promise((resolved, reject) => {
      const options: RequestOptions = {
        method: method ?? "GET",
        protocol: url.protocol,
        hostname: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port,
        path: url.pathname + url.search,
        headers: { "accept-encoding": ENCODINGS, ...headers },
        agent: agents[allowPrivate ? 1 : 0]?.[url.protocol as "http:" | "https:"],
      };
      if (signal?.aborted) return reject(toFailure(new Error("aborted"), url, signal));
      const outgoing = (url.protocol === "https:" ? https : http).request(options, resolved);
      outgoing.once("error", (error) => reject(toFailure(error, url, signal)));
      if (signal !== undefined) {
        // Node's own `signal` option costs several listeners a request.
        const abort = (): void => void outgoing.destroy(new Error("The request was cancelled"));
        signal.addEventListener("abort", abort, { once: true });
        outgoing.once("close", () => signal.removeEventListener("abort", abort));
      }
      if (typeof body === "object" && !(body instanceof Uint8Array)) {
        body.once("error", (error) => outgoing.destroy(error));
        body.pipe(outgoing);
      } else {
        outgoing.end(body);
      }
    });
  }

  return {
    request,
    close() {
      for (const pair of agents) for (const agent of Object.values(pair)) agent.destroy();
    },
  };
}

/** Resolves a name and refuses it where any of its addresses may not be reached; the addresses it returns are those connected to. */
function checkedLookup(resolve: Resolve, mayReach: (address: string) => boolean): LookupFunction {
  return (host, options, callback) => {
    resolve(host, (error, addresses) => {
      if (error) return callback(error, "", 0);
      const wanted = addresses.filter(({ family }) => !options.family || options.family === family);
      const [first] = wanted;
      const bad = addresses.find(({ address }) => !mayReach(address));
      if (bad) return callback(privateAddress(host, bad.address), "", 0);
      if (first === undefined) return callback(new Error(`${host} has no address`), "", 0);
      if (options.all) callback(null, [...wanted]);
      else callback(null, first.address, first.family);
    });
  };
}

const resolveAll: Resolve = (host, callback) => {
  systemLookup(host, { all: true, verbatim: true }, (error, addresses) => callback(error, addresses));
};

function privateAddress(host: string, address: string): ArsenalError {
  const fix = "Use a name that resolves to public addresses.";
  const message = `A request to ${host} is refused: it resolves to ${address}, which is this machine or a private network. ${fix}`;
  return new ArsenalError("PERMISSION_DENIED", message, { field: "url", value: host, fix });
}

function toResponse(answer: IncomingMessage, url: URL, maxBytes: number): EgressResponse {
  const { "set-cookie": cookies } = answer.headers;
  // Of no other header does Node keep several values apart.
  const headers = cookies === undefined ? answer.headers : { ...answer.headers, "set-cookie": cookies.join(", ") };
  return {
    status: answer.statusCode ?? 0,
    headers: headers as Record<string, string>,
    url: url.href,
    body: decoded(answer, maxBytes),
  };
}

function withoutSecrets(
  headers: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Record<string, string> {
  const secret = new Set([...SECRET_HEADERS, ...more.map((name) => name.toLowerCase())]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secret.has(name.toLowerCase())));
}

function withoutBodyHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-/i.test(name)));
}

function toFailure(error: Error, url: URL, signal: AbortSignal | undefined): ArsenalError {
  if (isArsenalError(error)) return error;
  if (signal?.aborted)
    return new ArsenalError("CANCELLED", `The request to ${hostOf(url)} was cancelled`, { cause: error });
  const { code } = error as { readonly code?: string };
  const beforeSend = code !== undefined && BEFORE_SEND.has(code);
  return failed(url, error.message === "" ? String(code) : error.message, { cause: error, beforeSend });
}

/** The connection was never made, so nothing was sent. */
const BEFORE_SEND: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function failed(url: URL, why: string, details: { cause?: unknown; beforeSend?: boolean } = {}): ArsenalError {
  return new ArsenalError("TRANSPORT_FAILED", `The request to ${url.host} failed: ${why}`, details);
}
