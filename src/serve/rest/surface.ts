import { randomUUID } from "node:crypto";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { jsonSchemaValidator } from "../../adapters/validators/json-schema/json-schema.ts";
import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { toWire } from "../../errors/to-wire.ts";
import type { Check } from "../../execute/validator.port.ts";
import type { JsonSchema } from "../../tool/json-schema.ts";
import { hasRole } from "../administration.ts";
import type { HttpExchange, Surface, SurfaceContext } from "../surface.ts";
import type { Operation } from "./operation.ts";
import { OPERATIONS } from "./operations/all.ts";

const BASE = "/api/v1";

/** `/api/v1`: the arsenal for programs that speak neither MCP nor A2A. Hono finds the operation; the host has authenticated the caller. */
export function restSurface(context: SurfaceContext): Surface {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const exchanges = new WeakMap<object, HttpExchange>();
  const closing = new AbortController();
  const validator = jsonSchemaValidator();
  const compile = (schema: JsonSchema | undefined): Check | undefined =>
    schema && (validator.compile(schema, { trusted: true }) as Check);

  for (const each of OPERATIONS) {
    const checks = { params: compile(each.params), query: compile(each.query), body: compile(each.body) };
    app.on(each.method.toUpperCase(), BASE + each.path.replaceAll(/\{(\w+)\}/g, ":$1"), (c) =>
      answer(each, checks, c, exchanges.get(c.env.incoming) as HttpExchange),
    );
  }

  async function answer(
    each: Operation,
    checks: Readonly<Record<"params" | "query" | "body", Check | undefined>>,
    c: Context,
    exchange: HttpExchange,
  ): Promise<Response> {
    const requestId = c.req.header("x-request-id") ?? randomUUID();
    try {
      const { principal } = exchange;
      if (each.role !== undefined && !hasRole(principal, each.role, context.administration))
        throw lacksRole(principal.id, each.role);
      const asked = {
        params: await checked(checks.params, c.req.param(), "path"),
        query: await checked(checks.query, c.req.query(), "query"),
        body: checks.body && (await checked(checks.body, await bodyOf(exchange, each.maxBytes), "body")),
        principal,
        header: (name: string) => c.req.header(name),
        wantsEvents: false,
        requestId,
        trace: exchange.trace,
        signal: closing.signal,
      };
      const given = await each.run(asked as never, context);
      if ("events" in given) throw new Error("not yet");
      const headers = { ...given.headers, "x-request-id": requestId };
      if (given.body === undefined) return new Response(null, { status: given.status ?? 204, headers });
      return c.json(given.body as object, (given.status ?? 200) as 200, headers);
    } catch (error) {
      if (!isArsenalError(error)) throw error;
      return problem(error, requestId);
    }
  }

  const listen = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    overrideGlobalObjects: false,
  });
  return {
    name: "rest",
    routes: [
      {
        path: `${BASE}/`,
        async handle(exchange) {
          exchanges.set(exchange.request, exchange);
          await listen(exchange.request, exchange.response);
        },
      },
    ],
    addresses: [[`${BASE}/tools`, "The REST API."]],
    async close() {
      closing.abort();
      await validator.close?.();
    },
  };
}

async function checked(check: Check | undefined, value: unknown, where: string): Promise<unknown> {
  if (check === undefined) return value;
  const outcome = await check(value);
  if (outcome.valid) return outcome.value;
  const issues = outcome.problems.map(({ field, message }) => ({ field, message }));
  const [first] = issues;
  throw new ArsenalError("INPUT_INVALID", `The ${where} is invalid: ${first?.message ?? ""}`, { issues });
}

async function bodyOf(exchange: HttpExchange, maxBytes = 1024 * 1024): Promise<unknown> {
  const read = await exchange.json({ maxBytes });
  if ("value" in read) return read.value;
  throw new ArsenalError("INPUT_INVALID", read.refused.message);
}

function lacksRole(id: string, role: string): ArsenalError {
  const fix = `Give the caller the role "${role}", with its API key or in its token.`;
  return new ArsenalError("PERMISSION_DENIED", `"${id}" lacks the role "${role}". ${fix}`, { fix });
}

function problem({ code, message, details }: ArsenalError, requestId: string): Response {
  const status = toWire(code).httpStatus;
  const body = JSON.stringify({ type: "about:blank", title: code, status, detail: message, code, ...details });
  const headers = { "content-type": "application/problem+json", "x-request-id": requestId };
  return new Response(body, { status, headers });
}
