import { ERROR_CODES } from "../../errors/codes.ts";
import { toWire } from "../../errors/to-wire.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { AnswerShape, Operation } from "./operation.ts";
import { closed } from "./read-request.ts";
import { COMPONENTS } from "./schemas/components.ts";

export interface DocumentParts {
  readonly version: string;
  /** The prefix of every path: `https://tools.example.com`. Empty if it is unknown. */
  readonly address: string;
  /** The path of the operations: `/api/v1`. */
  readonly base: string;
  /** True if callers must send a key or token. */
  readonly isSecured: boolean;
}

const ABOUT = `Find and run the tools of a ToolArsenal gateway. Requests and responses have the same JSON as the arguments and results of the library's methods.

Errors are \`application/problem+json\` with a \`code\`, a message and a fix. Every response has an \`X-Request-Id\`: yours, if you sent one. Send \`traceparent\` to continue your trace.`;

const TAGS: Readonly<Record<string, string>> = {
  Search: "Find the tools that fit a request.",
  Execute: "Run tools under the policy.",
  Tools: "List, add and remove tools.",
  Toolsets: "Curated views over the catalog.",
  Gateway: "The gateway itself.",
};

/** The errors that any operation may return, by status. */
const EVERYWHERE: Readonly<Record<number, string>> = {
  400: "The request is malformed: `INPUT_INVALID`.",
  403: "The caller may not do this, or the request comes from another web site: `PERMISSION_DENIED`.",
  408: "The body did not arrive in time: `INPUT_INVALID`.",
  413: "The body is too large: `INPUT_INVALID`.",
  415: "The body is not JSON: `INPUT_INVALID`.",
  500: "Something failed inside the gateway: `INTERNAL_ERROR`, `STORE_FAILED`.",
  503: "The gateway is shutting down, or a part of it cannot be reached. Retry after `Retry-After`: `CLOSED`, `SOURCE_UNAVAILABLE`.",
};

/** Writes the OpenAPI 3.1 document of the operations. */
export function createDocument(operations: readonly Operation[], parts: DocumentParts): object {
  const { version, address, base, isSecured } = parts;
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations)
    (paths[base + operation.path] ??= {})[operation.method] = describe(operation, isSecured);
  const used = [...new Set(operations.map(({ tag }) => tag))];
  return {
    openapi: "3.1.0",
    info: { title: "ToolArsenal", version, description: ABOUT },
    servers: [{ url: address === "" ? "/" : address }],
    ...(isSecured && { security: [{ bearer: [] }] }),
    tags: used.map((name) => ({ name, ...(TAGS[name] !== undefined && { description: TAGS[name] }) })),
    paths,
    components: {
      schemas: mapped(COMPONENTS, members),
      ...(isSecured && {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "An API key or an access token." },
        },
      }),
    },
  };
}

function describe(operation: Operation, isSecured: boolean): object {
  const {
    id,
    tag,
    summary,
    description,
    role,
    tenants = "own",
    params,
    query,
    body,
    examples,
    headers = {},
  } = operation;
  const named = role?.split(" or ").map((each) => `\`${each}\``);
  const needs =
    named && `Needs the role ${named.join(" or ")}${tenants === "none" ? ", and a caller without a tenant" : ""}.`;
  const text = [description, needs].filter((each) => each !== undefined).join(" ");
  const schema = { type: "string" };
  const parameters = [
    ...parametersOf(params, "path"),
    ...parametersOf(query, "query"),
    ...Object.entries(headers).map(([name, about]) => ({ name, in: "header", description: about, schema })),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(text !== "" && { description: text }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: (body.required ?? []).length > 0,
        content: {
          "application/json": {
            schema: refer(closed(body)),
            ...(examples && { examples: mapped(examples, (value) => ({ value })) }),
          },
        },
      },
    }),
    responses: { ...answersOf(operation), ...problemsOf(operation, isSecured) },
    ...(role !== undefined && { "x-access": { role, tenants } }),
  };
}

function parametersOf(schema: JsonSchema | undefined, place: "path" | "query"): readonly object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as JsonSchema;
    return {
      name,
      in: place,
      required: place === "path" || (schema?.required ?? []).includes(name),
      ...(description !== undefined && { description }),
      ...(rest.type === "array" && { style: "form", explode: false }),
      schema: refer(rest),
    };
  });
}

function answersOf({ answers, method }: Operation): Record<string, object> {
  const hasVersion = method === "get" && Object.values(answers).some(({ headers = {} }) => "ETag" in headers);
  const unchanged = { description: "The version in `If-None-Match` is still current." };
  return { ...mapped(answers, answerOf), ...(hasVersion && { 304: unchanged }) };
}

function answerOf({ description, schema, text, events, headers }: AnswerShape): object {
  const content = {
    ...(text !== undefined && { [text]: { schema: { type: "string" } } }),
    ...(schema && { "application/json": { schema: refer(schema) } }),
    ...(events && {
      "text/event-stream": {
        schema: {
          type: "string",
          description: `Server-sent events: ${Object.keys(events).join(", ")}. The data of each is JSON.`,
        },
        "x-events": mapped(events, refer),
      },
    }),
  };
  return {
    description,
    headers: headersOf({ ...headers, "X-Request-Id": "The id of the request." }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

function problemsOf(
  { problems = [], statuses = [], statusOf = {} }: Operation,
  isSecured: boolean,
): Record<string, object> {
  const texts: Record<number, string> = { ...EVERYWHERE };
  const add = (status: number, text: string): void => {
    texts[status] = texts[status] === undefined ? text : `${texts[status]}\n\n${text}`;
  };
  if (isSecured) add(401, "Missing or invalid credentials: `UNAUTHENTICATED`.");
  for (const code of problems) add(statusOf[code] ?? toWire(code).httpStatus, `\`${code}\`: ${ERROR_CODES[code]}`);
  for (const status of statuses) texts[status] ??= "The operation failed.";
  return mapped(texts, (description, status) => ({
    description,
    headers: headersOf({
      "X-Request-Id": "The id of the request.",
      ...((status === "429" || status === "503") && { "Retry-After": "How long to wait before a retry, in seconds." }),
    }),
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  }));
}

function headersOf(headers: Readonly<Record<string, string>>): object {
  return mapped(headers, (description) => ({ description, schema: { type: "string" } }));
}

function mapped<Value, Changed>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Changed,
): Record<string, Changed> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]));
}

const NAMES = new Map(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

function refer(value: unknown): unknown {
  const name = NAMES.get(value as JsonSchema);
  return name === undefined ? members(value) : { $ref: `#/components/schemas/${name}` };
}

function members(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(refer);
  if (!isPlainObject(value)) return value;
  const described = Object.entries(value).filter(([key, member]) => key !== "description" || member !== "");
  return Object.fromEntries(described.map(([key, member]) => [key, refer(member)]));
}
