import * as fc from "fast-check";
import { isPlainObject, type JsonSchema } from "../../src/tool/json-schema.ts";
import type { ApiDocument, PlacedOperation } from "./document-client.ts";

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly operation: PlacedOperation;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Values that mean something here, by the name of the member: without them every call would name an unknown tool. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

const odd = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "",
    " ",
    "\u0000",
    "\ud800",
    "\u202eabc",
    "a".repeat(5000),
    "__proto__",
    "../..",
    "%",
    "💥".repeat(20),
  ),
);

/** Values that fit a schema of the document. */
export function valid(
  schema: JsonSchema | boolean,
  document: ApiDocument,
  known: Known,
  name = "",
): fc.Arbitrary<unknown> {
  const fitting = fromSchema(schema, document, known);
  const values = known[name] ?? [];
  return values.length === 0 ? fitting : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, fitting);
}

function fromSchema(schema: JsonSchema | boolean, document: ApiDocument, known: Known): fc.Arbitrary<unknown> {
  if (typeof schema === "boolean") return fc.jsonValue({ maxDepth: 2 });
  const { $ref: reference, anyOf, oneOf, type } = schema as JsonSchema & { readonly $ref?: string };
  if (reference !== undefined)
    return fromSchema(document.components.schemas[reference.split("/").at(-1) ?? ""] ?? true, document, known);
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const branches = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  if (branches !== undefined) return fc.oneof(...branches.map((each) => fromSchema(each, document, known)));
  if (Array.isArray(type))
    return fc.oneof(...type.map((each) => fromSchema({ ...schema, type: each }, document, known)));
  switch (type) {
    case "string":
      return texts(schema);
    case "integer":
      return fc.integer({ min: bound(schema, "minimum", -1000), max: bound(schema, "maximum", 2 ** 31 - 1) });
    case "number":
      return fc.double({ min: bound(schema, "minimum", -1e12), max: bound(schema, "maximum", 1e13), noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const items = isPlainObject(schema.items) ? schema.items : true;
      return fc.array(fromSchema(items as JsonSchema, document, known), { maxLength: 4 });
    }
    case "object":
      return objects(schema, document, known);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function texts(schema: JsonSchema): fc.Arbitrary<string> {
  const { pattern } = schema as { readonly pattern?: string };
  // Nothing listens there, and no name has to be looked up.
  if (pattern?.startsWith("^https?") === true)
    return fc.constantFrom(
      "http://127.0.0.1:1/",
      "https://127.0.0.1:1/a?b#c",
      "http://[",
      "https://+]PJ:tBW*",
      "http://%",
    );
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  const limits = { minLength: bound(schema, "minLength", 0), maxLength: Math.min(bound(schema, "maxLength", 60), 300) };
  return fc.oneof(fc.string(limits), fc.string({ ...limits, unit: "grapheme" }));
}

function bound(schema: JsonSchema, keyword: string, otherwise: number): number {
  const value = schema[keyword];
  return typeof value === "number" ? value : otherwise;
}

function objects(schema: JsonSchema, document: ApiDocument, known: Known): fc.Arbitrary<unknown> {
  const { properties, required = [] } = schema;
  if (properties === undefined)
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, valid(each, document, known, name)]),
  );
  // Most members are left out most of the time: a request with all of them says little.
  const optional = Object.keys(members).filter((name) => !required.includes(name));
  return fc
    .subarray(optional, { maxLength: Math.min(4, optional.length) })
    .chain((chosen) =>
      fc.record(Object.fromEntries([...required, ...chosen].map((name) => [name, members[name] ?? fc.anything()]))),
    );
}

/** Requests that the document allows, and requests that are wrong in one way. */
export function requestsTo(operation: PlacedOperation, document: ApiDocument, known: Known): fc.Arbitrary<WireRequest> {
  const { parameters = [], requestBody, path, method } = operation;
  const body = requestBody?.content["application/json"]?.schema;
  const inPath = parameters.filter((each) => each.in === "path");
  const inQuery = parameters.filter((each) => each.in === "query");
  const whole = fc.record({
    path: fc.record(
      Object.fromEntries(
        inPath.map((each) => [
          each.name,
          valid(each.schema, document, { ...known, [each.name]: each.schema.examples ?? [], ...known }, each.name),
        ]),
      ),
    ),
    query: fc.record(
      Object.fromEntries(inQuery.map((each) => [each.name, valid(each.schema, document, known, each.name)])),
      {
        requiredKeys: inQuery.filter((each) => each.required === true).map((each) => each.name),
      },
    ),
    body: body === undefined ? fc.constant(undefined) : valid(body, document, known),
    accept: fc.constantFrom("application/json", "text/event-stream", "*/*"),
  });
  const right = whole.map(({ path: params, query, body: value, accept }): WireRequest => {
    const text = value === undefined ? "" : JSON.stringify(value);
    const headers = { accept, ...(text !== "" && { "content-type": "application/json" }) };
    return { operation, method, path: addressOf(path, params, query), headers, body: text };
  });
  return fc.oneof(
    { weight: 2, arbitrary: right },
    { weight: 3, arbitrary: fc.tuple(right, MUTATION, odd).map(([request, mutate, text]) => mutate(request, text)) },
  );
}

function addressOf(
  path: string,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
): string {
  let target = path;
  for (const [name, value] of Object.entries(params))
    target = target.replace(`{${name}}`, encoded(String(value)) || "-");
  const written = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(String(value))}`);
  return written.length === 0 ? target : `${target}?${written.join("&")}`;
}

function encoded(text: string): string {
  // A dot segment would be another path.
  return encodeURIComponent(text.toWellFormed()).replace(/^\.+$/, "-");
}

type Mutation = (request: WireRequest, text: string) => WireRequest;

/** Changes one member of the body, at any depth. */
const inBody =
  (change: (holder: Record<string, unknown>, key: string, text: string) => void): Mutation =>
  (request, text) => {
    const body = request.body === "" ? {} : (JSON.parse(request.body) as Record<string, unknown>);
    let holder = body;
    let key = pick(Object.keys(holder), text) ?? "more";
    while (isPlainObject(holder[key]) && text.length % 3 !== 0 && Object.keys(holder[key] as object).length > 0) {
      holder = holder[key] as Record<string, unknown>;
      key = pick(Object.keys(holder), text) ?? "more";
    }
    change(holder, key, text);
    return {
      ...request,
      headers: { ...request.headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    };
  };

function pick(keys: readonly string[], text: string): string | undefined {
  return keys[text.length % Math.max(1, keys.length)];
}

const WRONG: readonly unknown[] = [null, 7, -1e308, true, "text", [], {}, [[]], { a: { b: [1] } }, 1.5, "9".repeat(40)];

const MUTATION: fc.Arbitrary<Mutation> = fc.oneof(
  fc.constantFrom(...WRONG).map((wrong) => inBody((holder, key) => void (holder[key] = wrong))),
  fc.constantFrom<Mutation>(
    inBody((holder, key) => void delete holder[key]),
    inBody((holder, key, text) => void (holder[key] = text)),
    inBody((holder, _key, text) => void (holder[text === "__proto__" ? "x" : text] = 1)),
    inBody((holder, key) => void (holder[key] = "x".repeat(200_000))),
    inBody((holder, key) => void (holder[key] = Array.from({ length: 2000 }, (_, index) => index))),
    (request) => ({
      ...request,
      body: request.body.slice(0, -1) || "{",
      headers: { ...request.headers, "content-type": "application/json" },
    }),
    (request) => ({
      ...request,
      body: `${"[".repeat(100)}${"]".repeat(100)}`,
      headers: { ...request.headers, "content-type": "application/json" },
    }),
    (request, text) => ({
      ...request,
      body: JSON.stringify(text),
      headers: { ...request.headers, "content-type": "application/json" },
    }),
    (request) => ({
      ...request,
      body: request.body || "x",
      headers: { ...request.headers, "content-type": "text/plain" },
    }),
    (request) => ({
      ...request,
      body: request.body || "x",
      headers: { ...request.headers, "content-type": "application/xml; charset=utf-16" },
    }),
    (request) => ({
      ...request,
      body: '{"a":1,"a":2}',
      headers: { ...request.headers, "content-type": "application/json" },
    }),
    (request) => ({ ...request, method: "PATCH" }),
    (request) => ({ ...request, method: "PUT" }),
    (request, text) => ({
      ...request,
      path: `${request.path}${request.path.includes("?") ? "&" : "?"}${encoded(text) || "x"}=1`,
    }),
    (request, text) => ({
      ...request,
      path: `${request.path}${request.path.includes("?") ? "&" : "?"}limit=${encoded(text)}&cursor=${encoded(text)}`,
    }),
    (request, text) => ({ ...request, path: request.path.replace(/[^/?]+(?=\?|$)/, () => encoded(text) || "-") }),
    (request) => ({ ...request, path: request.path.replace(/[^/?]+(?=\?|$)/, "%zz") }),
    (request, text) => ({
      ...request,
      headers: { ...request.headers, "x-request-id": Buffer.from(text).toString("base64") || "x" },
    }),
    (request) => ({ ...request, headers: { ...request.headers, "idempotency-key": "k".repeat(300) } }),
    (request) => ({ ...request, headers: { ...request.headers, traceparent: "00-zz-1-01" } }),
    (request) => ({
      ...request,
      headers: { ...request.headers, "content-encoding": "gzip" },
      body: request.body || "x",
    }),
  ),
);
