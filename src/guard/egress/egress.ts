import type { IncomingMessage } from "node:http";
import type { Duplex, Readable, Transform } from "node:stream";
import type { DuplexStream, InputStream } from "../../base/streams.ts";
import { createConnections, readPins, resolveAll } from "./connections.ts";
import {
  checkAddress,
  type ClientCertificate,
  type EgressRules,
  hostOf,
  isPublicAddress,
  type ProxySettings,
  refused,
  requestFailed,
  type Resolve,
  toRequestFailure,
} from "./check-url.ts";
import { boundOfSetting } from "./domain-bound.ts";
import { ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { createProxyRoutes } from "./proxy.ts";

export type { ClientCertificate, Resolve } from "./check-url.ts";

/** An outgoing request. */
export interface EgressRequest extends EgressRules {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of headers that hold secrets, in addition to authorization and cookie. They are dropped on a redirect to another origin. */
  readonly secretHeaders?: readonly string[];
  /** Text and bytes can be sent again after a redirect, a stream cannot. */
  readonly body?: string | Uint8Array | InputStream;
  readonly signal?: AbortSignal;
  /** The most redirects to follow. Defaults to 5; 0 returns the redirect. */
  readonly maxRedirects?: number;
  /** True limits `allowPrivate` to this address: redirects to other origins must be public. */
  readonly publicRedirects?: boolean;
  /** True for an operator's address. Its origin may be private or outside the allowed domains; redirects to other origins may not. */
  readonly trusted?: boolean;
  /** The most bytes of the decompressed body. Defaults to 16 MiB; Infinity for an endless stream. */
  readonly maxBytes?: number;
}

/** A response. Its body must be read or destroyed. */
export interface EgressResponse {
  readonly status: number;
  /** Lower-case names; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The final URL, after redirects. */
  readonly url: string;
  /** Decompressed. Fails with PROTOCOL_ERROR if it is longer than allowed. */
  readonly body: InputStream;
}

/** Outgoing network access: every request to a server goes through it. */
export interface Egress {
  /** Sends a request. Rejects with PERMISSION_DENIED, before a socket is opened, if the address or an IP address of its name is forbidden. */
  request(url: string | URL, request?: EgressRequest): Promise<EgressResponse>;
  /** Opens a connection for another protocol, such as WebSocket. Throws if `request` would reject before DNS; the socket emits later errors. */
  connect(url: string | URL, rules?: ConnectRules): DuplexStream;
  /** Returns the same access with its own connections, which `close` ends separately. They present `certificate` to servers that request one. */
  fork(certificate?: ClientCertificate): Egress;
  close(): void;
}

const MAX_REDIRECTS = 5;
const MAX_BYTES = 16 * 1024 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The rules for every request of a program. */
export interface ProgramRules extends EgressRules, ProxySettings {
  /** Certificate authorities to trust in addition to those of Node, as PEM. */
  readonly ca?: string | undefined;
  /** Host names, each with `sha256/BASE64` hashes of the public keys that its certificate may have, separated by blanks. */
  readonly certificatePins?: Readonly<Record<string, string>>;
}

/** Replaceable parts of the egress. */
export interface EgressParts {
  readonly resolve?: Resolve;
  readonly isPublic?: (address: string) => boolean;
  /** The variables to read HTTPS_PROXY, HTTP_PROXY and NO_PROXY from. Defaults to the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Creates the egress. `rules` apply to every request; a request can narrow the domains, and only its own `allowPrivate` permits private addresses. */
export function createEgress(rules: ProgramRules = {}, parts: EgressParts = {}): Egress {
  const { resolve = resolveAll, isPublic = isPublicAddress } = parts;
  const pins = readPins(rules.certificatePins);
  const routeTo = createProxyRoutes(rules, parts.environment ?? process.env);
  const { ca } = rules;
  const programBound = boundOfSetting(rules.allowedDomains);

  /** Applies the rules of the program and of the request. The program's rules do not apply to the operator's own addresses. */
  function checked(given: string | URL, asked: EgressRules, may: ReturnType<typeof permissionOf>): URL {
    const bounds = [may.trusted ? "anywhere" : programBound, boundOfSetting(asked.allowedDomains)];
    const url = checkAddress(given, { bounds, allowPrivate: may.allowPrivate, isPublic });
    if (url.protocol === "http:" && pins.isPinned(hostOf(url)))
      throw refused(url, "its certificate is pinned, but plain http has none", "Use its https address.");
    return url;
  }

  function permissionOf({ trusted = false, allowPrivate = rules.allowPrivate ?? false }: ConnectRules) {
    return { trusted, allowPrivate: allowPrivate || trusted };
  }

  function create(certificate?: ClientCertificate): Egress {
    const connections = createConnections({ resolve, isPublic, pins, certificate, ca, routeTo });

    async function request(given: string | URL, asked: EgressRequest = {}): Promise<EgressResponse> {
      let may = permissionOf(asked);
      let url = checked(given, asked, may);
      let { method = "GET", headers = {}, body } = asked;
      for (let followed = 0; ; followed++) {
        const answer = await send(url, { method, headers, body, signal: asked.signal, allowPrivate: may.allowPrivate });
        const target = REDIRECTS.has(answer.statusCode ?? 0) ? answer.headers.location : undefined;
        const { maxRedirects = MAX_REDIRECTS } = asked;
        if (target === undefined || maxRedirects === 0) {
          const content = decoded(answer, asked.maxBytes ?? MAX_BYTES);
          return { status: answer.statusCode ?? 0, headers: toHeaders(answer), url: url.href, body: content };
        }
        answer.destroy();
        if (followed >= maxRedirects) throw requestFailed(url, `it redirected more than ${maxRedirects} times`);
        const to = URL.parse(target, url.href);
        if (to === null) throw requestFailed(url, "it redirected to an invalid address");
        const leaves = to.origin !== url.origin;
        if (leaves && (asked.trusted === true || asked.publicRedirects === true)) may = permissionOf({});
        const next = checked(to, asked, may);
        if (leaves) {
          const secret = [...SECRET_HEADERS, ...(asked.secretHeaders ?? []).map((name) => name.toLowerCase())];
          headers = without(headers, (name) => secret.includes(name));
        }
        const becomesGet =
          answer.statusCode === 303 || (answer.statusCode !== 307 && answer.statusCode !== 308 && method === "POST");
        if (becomesGet) {
          method = "GET";
          headers = without(headers, (name) => name.startsWith("content-"));
          body = undefined;
        } else if (typeof body === "object" && !(body instanceof Uint8Array))
          throw requestFailed(url, "it redirected a request whose body cannot be sent twice");
        url = next;
      }
    }

    function send(
      url: URL,
      sent: Required<Pick<EgressRequest, "method" | "headers">> & {
        readonly body: EgressRequest["body"];
        readonly signal: AbortSignal | undefined;
        readonly allowPrivate: boolean;
      },
    ): Promise<IncomingMessage> {
      const { method, headers, body, signal, allowPrivate } = sent;
      return new Promise((resolved, reject) => {
        if (signal?.aborted) return reject(toRequestFailure(new Error("aborted"), url, signal));
        const all = { "accept-encoding": ENCODINGS, ...headers };
        const outgoing = connections.begin(url, { method, headers: all, allowPrivate });
        outgoing.once("response", resolved);
        outgoing.once("error", (error) => reject(toRequestFailure(error, url, signal)));
        if (signal !== undefined) {
          // Node's own `signal` option adds several listeners per request.
          const abort = (): void => void outgoing.destroy(new Error("The request was cancelled"));
          signal.addEventListener("abort", abort);
          outgoing.once("close", () => signal.removeEventListener("abort", abort));
        }
        if (typeof body === "object" && !(body instanceof Uint8Array)) {
          body.once("error", (error: Error) => outgoing.destroy(error));
          (body as Readable).pipe(outgoing);
        } else {
          outgoing.end(body);
        }
      });
    }

    function connect(given: string | URL, asked: ConnectRules = {}): DuplexStream {
      const may = permissionOf(asked);
      return connections.connect(checked(given, asked, may), may.allowPrivate);
    }

    return { request, connect, fork: (own = certificate) => create(own), close: connections.close };
  }

  return create();
}

type ConnectRules = Pick<EgressRequest, "trusted" | keyof EgressRules>;

/** Node keeps the values of repeated headers separate only for `set-cookie`. */
function toHeaders({ headers }: IncomingMessage): Record<string, string> {
  const { "set-cookie": cookies } = headers;
  return (cookies === undefined ? headers : { ...headers, "set-cookie": cookies.join(", ") }) as Record<string, string>;
}

const DECODERS: Readonly<Record<string, () => Duplex>> = {
  gzip: () => process.getBuiltinModule("node:zlib").createGunzip(),
  deflate: () => process.getBuiltinModule("node:zlib").createInflate(),
  br: () => process.getBuiltinModule("node:zlib").createBrotliDecompress(),
};

const ENCODINGS: string = Object.keys(DECODERS).join(", ");

/** Decompresses the body of a response. Fails once it is longer than allowed, so that a small response cannot expand into a huge one. */
function decoded(answer: IncomingMessage, maxBytes: number): Readable {
  const encoding = answer.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && !Object.hasOwn(DECODERS, encoding)) {
    answer.destroy();
    const message = `The response has the unrequested encoding ${JSON.stringify(encoding)}`;
    throw new ArsenalError("PROTOCOL_ERROR", message, { field: "content-encoding", value: encoding });
  }
  const decoder = DECODERS[encoding]?.();
  // Node reads at most the announced length of a response.
  const length = Number(answer.headers["content-length"] ?? Number.POSITIVE_INFINITY);
  const limit = !decoder && length <= maxBytes ? [] : [limited(maxBytes)];
  const stages = decoder ? [decoder, ...limit] : limit;
  // Failures reach the reader through the body itself.
  if (stages.length === 0) return answer;
  const { pipeline } = process.getBuiltinModule("node:stream");
  return pipeline([answer, ...stages], () => {}) as unknown as Readable;
}

function limited(maxBytes: number): Transform {
  let count = 0;
  return new (process.getBuiltinModule("node:stream").Transform)({
    transform(chunk: Buffer, _encoding, done) {
      count += chunk.length;
      if (count <= maxBytes) return done(null, chunk);
      const fix = "Ask for less, or raise the limit.";
      done(fixable("PROTOCOL_ERROR", `The answer is longer than ${maxBytes} bytes.`, fix));
    },
  });
}

const SECRET_HEADERS: readonly string[] = ["authorization", "cookie", "proxy-authorization"];

function without(headers: Readonly<Record<string, string>>, isDropped: (name: string) => boolean) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isDropped(name.toLowerCase())));
}
