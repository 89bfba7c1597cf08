import { compileSchema } from "../../src/adapters/validators/json-schema/compile-schema.ts";
import type { JsonSchema } from "../../src/tool/json-schema.ts";
import { askAt, eventsOf, type RestAnswer } from "./rest-gateway.ts";

/** As much of an OpenAPI document as a client needs. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

export interface ApiOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: "path" | "query" | "header";
    readonly required?: boolean;
    readonly schema: JsonSchema & { readonly examples?: readonly unknown[] };
  }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<
      Record<
        string,
        { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }
      >
    >;
  };
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

interface ApiResponse {
  readonly content?: Readonly<
    Record<string, { readonly schema: JsonSchema; readonly "x-events"?: Readonly<Record<string, JsonSchema>> }>
  >;
}

/** An operation with its place. */
export interface PlacedOperation extends ApiOperation {
  readonly method: string;
  readonly path: string;
}

export function operationsOf({ paths }: ApiDocument): readonly PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** A schema of the document that stands for itself: what it refers to comes with it. */
export function standalone(schema: JsonSchema, { components }: ApiDocument): JsonSchema {
  const text = JSON.stringify({ ...schema, $defs: components.schemas });
  return JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/")) as JsonSchema;
}

/** What is wrong with an answer, by the document: an undocumented status or media type, or a body of another shape. */
export function createAnswerCheck(document: ApiDocument) {
  const checks = new Map<JsonSchema, ReturnType<typeof compileSchema>>();
  const mismatches = (schema: JsonSchema, value: unknown): readonly string[] => {
    let check = checks.get(schema);
    if (check === undefined)
      checks.set(schema, (check = compileSchema(standalone(schema, document), { trusted: true })));
    const outcome = check(value);
    return outcome.valid ? [] : outcome.problems.map(({ message }) => message);
  };
  return ({ responses }: ApiOperation, { status, headers, body, text }: RestAnswer): readonly string[] => {
    const documented = responses[String(status)];
    if (documented === undefined) return [`The status ${status} is not documented.`];
    if (text === "") return documented.content === undefined ? [] : ["The answer has no body."];
    const [type = ""] = (headers.get("content-type") ?? "").split(";");
    const content = documented.content?.[type];
    if (content === undefined) return [`The media type ${type} is not documented.`];
    if (type !== "text/event-stream") return mismatches(content.schema, body);
    return eventsOf(text).flatMap(({ event, data }) => {
      const schema = content["x-events"]?.[event];
      return schema === undefined ? [`The event ${event} is not documented.`] : mismatches(schema, data);
    });
  };
}

/**
 * Calls an operation with nothing but what its document says: its examples, and for `/things/{id}` the first thing that `/things` lists. The
 * path's own example counts if there is one.
 */
export async function callByDocument(
  url: string,
  { method, path, parameters = [], requestBody }: PlacedOperation,
  headers: Readonly<Record<string, string>> = {},
): Promise<RestAnswer> {
  const ask = askAt(url);
  let target = path;
  const query = new URLSearchParams();
  for (const { name, in: place, schema, required } of parameters) {
    if (place === "query" && required === true) query.set(name, String(schema.examples?.[0]));
    if (place !== "path") continue;
    const value = schema.examples?.[0] ?? firstOf((await ask("GET", path.slice(0, path.indexOf("/{")))).body, name);
    target = target.replace(`{${name}}`, encodeURIComponent(String(value)));
  }
  const [example] = Object.values(requestBody?.content["application/json"]?.examples ?? {});
  if (query.size > 0) target += `?${query}`;
  return ask(method, target, { headers, ...(example && { body: example.value }) });
}

/** A member of the first thing in a list. */
function firstOf(answer: unknown, member: string): unknown {
  const [things] = Object.values(answer ?? {}).filter(Array.isArray);
  return (things?.[0] as Readonly<Record<string, unknown>> | undefined)?.[member] ?? "none";
}
