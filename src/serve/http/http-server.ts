import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ArsenalError } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import { identified } from "../../guard/identity/any-identity.ts";
import type { Identified, Identity } from "../../guard/identity.port.ts";
import { localOperator, type Principal } from "../../guard/principal.ts";
import { createTraceIds } from "../../execute/trace-ids.ts";
import { type Clock, systemClock } from "../../observe/clock.ts";
import type { Emit } from "../../observe/events.ts";
import { readTraceContext, spanBelow, type TraceContext } from "../../observe/trace-context.ts";
import { basePathOf, createCallerCheck, createOwnAddress, hostInUrl, withoutPrefix } from "./allowed-callers.ts";
import { answerJson, refuse } from "./answer.ts";
import { createIntake, type Intake } from "./intake.ts";
import { createOpenWork } from "./open-work.ts";
import { pageRefusal, type PageCheck } from "./page-token.ts";
import { answerWithProblem, refuseWithProblem, requestIdOf, toProblem } from "./problem.ts";
import { metadataRoutes, metadataUrl, toChallenge } from "./resource-metadata.ts";
import type { HttpExchange, OnRevoked, Route } from "../surface.ts";
import type { ListenOptions } from "./listen-options.ts";
import { checkedAddress, listen } from "./listening.ts";
import { ReceivedExchange } from "./received-exchange.ts";
import { readJson } from "./read-json.ts";
import { createRevocableStreams } from "./revocable-streams.ts";
import { followCertificate, readCertificate } from "./tls.ts";

export interface HttpServerOptions extends ListenOptions {
  readonly routes: readonly Route[];
  /** How long the server waits for a slow or silent client, in milliseconds. */
  readonly timeouts?: {
    /** For the headers of a request. Defaults to 10 s. */
    readonly headersMs?: number;
    /** For a whole request with its body. Defaults to 30 s. */
    readonly requestMs?: number;
    /** For the next request on a connection. Defaults to 65 s, which is longer than the minute for which proxies keep idle connections. */
    readonly keepAliveMs?: number;
    /** For answers in progress when the server closes. Defaults to 1 s. */
    readonly closeMs?: number;
  };
  /** Verifies the tokens that the gateway's own pages must send with all requests that are not reads. Omitted if the server has no pages. */
  readonly seal?: PageCheck["seal"];
  /** Shared by the servers of one process. Defaults to a new one. */
  readonly intake?: Intake;
  /** Called with errors thrown by a route or the identity. The caller gets only a general message. */
  onError?(error: unknown): void;
  /** Reports answered requests, and whether a changed certificate is in use. */
  readonly emit?: Emit;
  readonly clock?: Clock;
}

export type HttpServer = Awaited<ReturnType<typeof createHttpServer>>;

/** The methods that are reported by name, because callers can invent others. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The base for turning a path into a URL. The host name was already checked and does not matter here. */
const ANY_ORIGIN = "http://localhost";

/** The caller of a public route on a server whose other routes need authentication. */
const ANONYMOUS: Principal = { id: "anonymous", roles: [], capabilities: [], scopes: [], local: false };

/** Listens for HTTP and passes requests to their routes. Refuses to start without an identity if other machines can reach the server. */
export async function createHttpServer(options: HttpServerOptions) {
  const {
    host = "127.0.0.1",
    identity,
    onError,
    tls,
    emit = ignore as Emit,
    clock = systemClock,
    intake = createIntake(),
  } = options;
  const { headersMs = 10_000, requestMs = 30_000, keepAliveMs = 65_000, closeMs = 1000 } = options.timeouts ?? {};
  const publicUrl = checkedAddress({ ...options, host });
  const { tokenOrigin } = identity ?? {};

  const prefix = basePathOf(publicUrl ?? "");
  const publicOrigin = publicUrl && new URL(publicUrl).origin;
  const ownOrigins = publicOrigin === undefined ? [] : [publicOrigin];
  const refusalOf = createCallerCheck({
    host,
    allowedHosts: [...ownOrigins.map((origin) => new URL(origin).hostname), ...(options.allowedHosts ?? [])],
    allowedOrigins: [...ownOrigins, ...(options.allowedOrigins ?? [])],
  });
  const isProtected = (path: string): boolean => {
    const route = find(path, () => path);
    return route !== undefined && route.open !== true;
  };
  const metadata =
    tokenOrigin === undefined
      ? []
      : metadataRoutes({ tokenOrigin, isProtected, prefix, addressOf: (called) => addressOf(called) });
  const routes = [...options.routes, ...metadata];
  const exact = new Map(routes.map((route) => [route.path, route]));
  const below = routes.filter(isBeginning).sort((left, right) => right.path.length - left.path.length);

  /**
   * Finds the route with this path, or the route with the longest matching prefix. The path without dot segments is computed only if no route equals
   * the path.
   */
  function find(path: string, normalised: () => string): Route | undefined {
    const own = exact.get(path);
    if (own !== undefined) return own;
    const plain = normalised();
    return exact.get(plain) ?? below.find((route) => plain.startsWith(route.path));
  }

  const streams = createRevocableStreams(clock, identity);
  const pages = options.seal && { seal: options.seal, publicOrigin, allowedOrigins: options.allowedOrigins };
  const ids = createTraceIds();
  const unasked = identity === undefined ? localOperator() : ANONYMOUS;

  function receive(request: IncomingMessage, response: ServerResponse): void {
    work.add(response);
    // Writing to a stream that closing has ended must not crash the process.
    response.on("error", ignore);
    const { url: received = "" } = request;
    const target = prefix === "" ? received : ownTarget(received, prefix);
    let parsed: URL | undefined;
    const url = (): URL => (parsed ??= new URL(ANY_ORIGIN + target));
    const query = target.indexOf("?");
    const isPath = target.startsWith("/");
    const route = isPath ? find(query === -1 ? target : target.slice(0, query), () => url().pathname) : undefined;
    if (work.closing) return refuseOn(route, request, response, CLOSING, { "retry-after": "1" });

    const refused = refusalOf(request.headers);
    if (refused !== undefined) return refuseOn(route, request, response, refused);
    const { origin } = request.headers;
    if (origin !== undefined) letPageRead(response, origin);

    if (!isPath) return refuse(response, { status: 400, message: "The request has no path." });
    if (route === undefined) {
      const paths = routes.map((each) => (isBeginning(each) ? `${each.path}…` : each.path));
      return refuse(response, { status: 404, message: `There is nothing at this path. Paths: ${paths.join(", ")}.` });
    }
    if (isPreflight(request)) return answerPreflight(request, response);
    const unproven = pages && pageRefusal(request, pages);
    if (unproven !== undefined) return refusePage(route, request, response, unproven);

    const trace = route.open === true ? undefined : begin(request, response, route, url);
    const handle = (principal: Principal, onRevoked?: OnRevoked): Promise<void> =>
      serve(
        route,
        new ReceivedExchange({
          request,
          response,
          principal,
          onRevoked,
          trace,
          json: (limits) => readJson(request, limits, (ms) => intake.parsed(principal, ms)),
          url,
          address: () => addressOf(request.headers.host),
        }),
      );
    if (identity === undefined || route.open === true) return void handle(unasked);
    const path = route.path.endsWith("/") ? url().pathname : route.path;
    void identify(identity, { request, response, route }, path, handle);
  }

  /** Starts the span of a request. Returns the trace context for the request's work. */
  function begin(request: IncomingMessage, response: ServerResponse, route: Route, url: () => URL): TraceContext {
    const { span, below: context } = spanBelow(readTraceContext(request.headers), ids);
    if (emit.wants?.("request-finished") === false) return context;
    const startedAt = clock.now();
    const { method = "" } = request;
    response.once("close", () =>
      emit("request-finished", {
        ...span,
        startedAt,
        durationMs: clock.now() - startedAt,
        kind: "http",
        method: METHODS.has(method) ? method : "_OTHER",
        target: route.template?.(method, url().pathname) ?? route.path,
        status: response.statusCode,
      }),
    );
    return context;
  }

  async function serve(route: Route, exchange: HttpExchange): Promise<void> {
    try {
      await route.handle(exchange);
    } catch (error) {
      onError?.(error);
      const { request, response, url } = exchange;
      emit("request-failed", { requestId: requestIdOf(request), path: url.pathname, message: messageOf(error) });
      if (response.headersSent) response.destroy();
      else refuseOn(route, request, response, { status: 500, code: -32_603, message: "The server failed to answer." });
    }
  }

  async function identify(
    by: Identity,
    { request, response, route }: Pick<HttpExchange, "request" | "response"> & { readonly route: Route },
    path: string,
    handle: (principal: Principal, onRevoked?: OnRevoked) => Promise<void>,
  ): Promise<void> {
    const { headers } = request;
    const { remoteAddress } = request.socket;
    const address = addressOf(headers.host);
    let found: Identified;
    try {
      found = await identified(by, {
        // Node returns only set-cookie as a list, and requests do not have this header.
        headers: headers as Readonly<Record<string, string>>,
        ...(remoteAddress === undefined ? {} : { remoteAddress }),
        resource: address + path,
      });
    } catch (error) {
      onError?.(error);
      const failed = { status: 503, message: "Could not authenticate the caller. Try again later." };
      return refuseOn(route, request, response, failed, { "retry-after": "1" });
    }
    const { principal, refusal, isValid } = found;
    if (principal !== undefined) {
      const onRevoked = isValid && streams.add(response, isValid);
      const taking = intake.take(principal, request, response);
      const refused = taking instanceof Promise ? await taking : taking;
      if (refused !== undefined) return refuseOn(route, request, response, refused, refused.headers);
      return handle(principal, onRevoked);
    }
    const status = refusal?.error === "insufficient_scope" ? 403 : 401;
    const message = refusal?.description ?? "Missing or invalid credentials.";
    const challenge = toChallenge(by, refusal, metadataUrl(address, path));
    return refuseOn(route, request, response, { status, message }, { "www-authenticate": challenge });
  }

  const settings = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    // The interval at which Node checks for slow requests.
    connectionsCheckingInterval: Math.min(2000, headersMs),
    maxHeaderSize: 16 * 1024,
    // A missing Host is refused below, with an error body. A repeated header is a list, which no rule accepts.
    requireHostHeader: false,
    joinDuplicateHeaders: true,
  };
  const secured = tls && (await readCertificate(tls));
  const secure = secured && { ...settings, ...secured.context, handshakeTimeout: headersMs };
  // An import of Node's HTTP would also load its WebSocket client, which takes longer than everything else in it.
  const secureServer = secure && process.getBuiltinModule("node:https").createServer(secure, receive);
  const server = secureServer ?? process.getBuiltinModule("node:http").createServer(settings, receive);
  // If there is a limit, Node silently drops headers above it, including Origin. The total size of headers is limited anyway.
  server.maxHeadersCount = 0;
  const work = createOpenWork(server);
  const port = await listen(server, host, options.port ?? 8080);
  const url = `${tls === undefined ? "http" : "https"}://${hostInUrl(host)}:${port}`;
  const addressOf = createOwnAddress({ host, port, url }, publicUrl);
  const certificate =
    tls && secured && secureServer && (await followCertificate(secureServer, tls, { known: secured.texts, emit }));
  return {
    /** `http://127.0.0.1:8080`, or `https://…` with a certificate. */
    url,
    /** The address that clients use, without a trailing slash: `https://example.com/tools`. Undefined if none is configured. */
    publicUrl,
    /** Returns the server's address as seen by a client that sent this Host header. */
    addressOf,
    /** Stops listening, ends open streams, and resolves when every connection is closed. */
    async close(): Promise<void> {
      streams.close();
      await Promise.all([work.close(closeMs), certificate?.close()]);
    },
  };
}

function ignore(): void {}

const CLOSING = { status: 503, message: "The server is closing." };

/** Refuses a request in the error format of its route. */
function refuseOn(
  route: Route | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  refused: { readonly status: number; readonly message: string; readonly code?: number },
  headers?: OutgoingHttpHeaders,
): void {
  if (route?.refusals === "problem+json") refuseWithProblem(request, response, refused, headers);
  else if (route?.refusals === "error") answerJson(response, refused.status, { error: refused.message }, headers);
  else refuse(response, refused, headers);
}

/** Refuses a request that claims to come from one of the gateway's own pages but cannot prove it. */
function refusePage(route: Route, request: IncomingMessage, response: ServerResponse, error: ArsenalError): void {
  if (route.refusals === "problem+json") return answerWithProblem(response, toProblem(error, requestIdOf(request)));
  refuseOn(route, request, response, { status: 403, message: `${error.message} ${error.details.fix ?? ""}` });
}

/** Returns the target of a request to a gateway below a path, whether or not its proxy removed the path. */
function ownTarget(received: string, prefix: string): string {
  const rest = withoutPrefix(received, prefix);
  return rest === received || rest.startsWith("/") ? rest : `/${rest}`;
}

function isBeginning({ path, exact = false }: Route): boolean {
  return path.endsWith("/") && !exact;
}

/** Allows the page of an allowed Origin to read the answer. */
function letPageRead(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader(
    "access-control-expose-headers",
    "Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Request-Id, ETag, Location",
  );
  response.setHeader("vary", "Origin");
}

/** Returns true for a browser's preflight request. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

/** Answers an allowed page's preflight. Any header is allowed, because routes check them. */
function answerPreflight({ headers }: IncomingMessage, response: ServerResponse): void {
  response
    .writeHead(204, {
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": headers["access-control-request-headers"] ?? "content-type",
      "access-control-max-age": "600",
    })
    .end();
}
