import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import { jsonSchemaValidator } from "../../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError, fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { programIdentity } from "../../system/program-identity.ts";
import { sha256 } from "../../base/crypto.ts";
import { decodePercent } from "../../tool/schema/keywords.ts";
import { pageTokenMeta } from "../http/page-token.ts";
import { refuseMethodWithProblem } from "../http/problem.ts";
import type { ServedRoutes } from "../lazy-surface.ts";
import type { HttpExchange, SurfaceContext } from "../surface.ts";
import { retryAfter, shuttingDown } from "../work.ts";
import { refusalOf } from "./access.ts";
import { recordDenied, runRecorded } from "./audit-operation.ts";
import { BASE } from "./base.ts";
import { DOCS_HEADERS, docsPage } from "./docs-page.ts";
import { createDocument } from "./document.ts";
import { type RestRequest, isOffered, type Operation } from "./operation.ts";
import { OPERATIONS } from "./operations/all.ts";
import { createReader, type RequestReader } from "./read-request.ts";
import { type AnswerWriter, createWriter } from "./write-answer.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;

interface ServedOperation {
  readonly operation: Operation;
  readonly read: RequestReader;
}

interface MatchedOperation extends ServedOperation {
  readonly params: Record<string, string>;
}

/** Serves the operations, and the documents that describe them. Hono finds the operation; the host has authenticated the caller. */
export function serveOperations(context: SurfaceContext): ServedRoutes {
  const { replica, work, redactor, startup } = context;
  const validator = jsonSchemaValidator();
  const operations = OPERATIONS.filter((operation) => isOffered(operation, context));
  const router = new SmartRouter<ServedOperation>({ routers: [new RegExpRouter(), new TrieRouter()] });
  for (const operation of operations) {
    const served = { operation, read: createReader(operation, validator) };
    router.add(operation.method.toUpperCase(), operation.path.replaceAll(/\{(\w+)\}/g, ":$1"), served);
  }

  async function handle(exchange: HttpExchange): Promise<void> {
    const { request, response, url } = exchange;
    const writer = createWriter(exchange, redactor);
    let statusOf: Operation["statusOf"];
    try {
      const { method = "GET" } = request;
      const path = url.pathname.slice(BASE.length);
      const found = find(method === "HEAD" ? "GET" : method, path);
      if (found === undefined) {
        const allowed = METHODS.filter((each) => find(each, path) !== undefined);
        if (allowed.length === 0) return writer.problem(nothingAt(path), { status: 404 });
        const allow = [...allowed, ...(allowed.includes("GET") ? ["HEAD"] : [])].join(", ");
        return refuseMethodWithProblem(request, response, allow);
      }
      if (isCrossSite(request.headers)) return writer.problem(crossSite());
      statusOf = found.operation.statusOf;
      await answer(found, exchange, writer);
    } catch (error) {
      // The host reports internal errors, and the caller gets a plain 500.
      if (!isArsenalError(error)) throw error;
      const status = statusOf?.[error.code];
      writer.problem(error, status === undefined ? {} : { status });
    }
  }

  /** Returns the path template of the operation, regardless of its method. */
  function template(method: string, path: string): string {
    for (const each of [method, ...METHODS]) {
      const [[match] = []] = router.match(each, path.slice(BASE.length));
      if (match !== undefined) return BASE + match[0].operation.path;
    }
    return `${BASE}/`;
  }

  function find(method: string, path: string): MatchedOperation | undefined {
    const [[match] = [], stash] = router.match(method, path);
    if (match === undefined) return undefined;
    const [served, places] = match;
    const params: Record<string, string> = {};
    for (const [name, place] of Object.entries(places))
      params[name] = decodePercent(typeof place === "number" ? (stash?.[place] ?? "") : place);
    return { ...served, params };
  }

  async function answer({ operation, read, params }: MatchedOperation, exchange: HttpExchange, writer: AnswerWriter) {
    if (work.draining) return writer.problem(shuttingDown(), { headers: retryAfter(work) });
    const { request, response, principal } = exchange;
    const { needsTools, endless } = operation;
    const refusal = refusalOf(operation, principal, context.administration);
    if (refusal !== undefined) {
      await recordDenied(operation, { params, body: undefined, principal, trace: exchange.trace } as never, context);
      throw refusal;
    }
    const given = await read(exchange, params);
    if ("refused" in given) return writer.problem(given.refused, given);

    const gone = new AbortController();
    // Operator operations are not aborted, because a caller may revoke its own key.
    const unwatch = needsTools === true ? exchange.onRevoked?.((reason) => gone.abort(reason)) : undefined;
    response.once("close", () => {
      unwatch?.();
      if (!response.writableFinished) gone.abort(new ArsenalError("CANCELLED", "The caller disconnected."));
    });
    const run = async (signal: AbortSignal): Promise<void> => {
      if (needsTools === true) await startup.wait(signal);
      const asked = {
        ...given,
        principal,
        header: (name: string) => request.headers[name] as string | undefined,
        wantsEvents: request.headers.accept?.includes("text/event-stream") ?? false,
        trace: exchange.trace,
        signal,
      };
      const answered = await runRecorded(operation, asked as RestRequest<never, never, never>, context);
      if ("refused" in answered) writer.problem(answered.refused, answered);
      else if ("text" in answered) writer.plain(answered);
      else if ("events" in answered) await writer.events(answered.events, signal);
      else await writer.json(answered);
    };
    if (endless === true) await run(AbortSignal.any([gone.signal, work.ending]));
    else await work.run(gone.signal, run);
  }

  let document: { readonly body: object; readonly headers: { readonly etag: string } } | undefined;
  async function describe(exchange: HttpExchange): Promise<void> {
    if (document === undefined) {
      const version = programIdentity().version;
      const address = context.address();
      const body = createDocument(operations, { version, address, base: BASE, isSecured: !context.isLocal });
      document = { body, headers: { etag: `"${sha256(JSON.stringify(body), "base64url")}"` } };
    }
    await createWriter(exchange, redactor).json(document);
  }

  function showDocs({ response }: HttpExchange): void {
    response.writeHead(200, DOCS_HEADERS).end(docsPage(pageTokenMeta(replica.seal)));
  }

  return {
    routes: [
      { path: "/openapi.json", handle: readOnly(describe) },
      { path: "/docs", handle: readOnly(showDocs) },
      { path: `${BASE}/`, template, handle },
      { path: BASE, handle },
    ],
    close: async () => validator.close?.(),
  };
}

/** Allows only GET and HEAD. */
function readOnly(
  handle: (exchange: HttpExchange) => void | Promise<void>,
): (exchange: HttpExchange) => void | Promise<void> {
  return (exchange) => {
    const { request, response } = exchange;
    if (request.method === "GET" || request.method === "HEAD") return handle(exchange);
    refuseMethodWithProblem(request, response, "GET, HEAD");
  };
}

function nothingAt(path: string): ArsenalError {
  const fix = "GET /openapi.json lists all paths.";
  return fixable("INPUT_INVALID", `There is nothing at ${BASE}${path.slice(0, 200)}.`, fix);
}

/** Returns true for requests that another site makes a browser send without an Origin, such as an image or a form. The host checks Origins. */
function isCrossSite({ origin, "sec-fetch-site": site }: HttpExchange["request"]["headers"]): boolean {
  return origin === undefined && (site === "cross-site" || site === "same-site");
}

function crossSite(): ArsenalError {
  const fix = "Call it from a program, or from a page whose origin is in server.allowed_origins.";
  return fixable("PERMISSION_DENIED", "Other web sites may not call this API.", fix);
}
