import { ArsenalError, type ErrorIssue, fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { fixOf, isUnknown } from "../../execute/arguments/fix-of.ts";
import type { Check, Problem, Validator } from "../../execute/validator.port.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { follow } from "../../tool/schema/keywords.ts";
import type { HttpExchange } from "../surface.ts";
import type { Operation } from "./operation.ts";

/** A checked request, or the reason why its body is refused. Rejects with INPUT_INVALID for a request that its schemas do not allow. */
export type ReadRequest =
  | { readonly params: unknown; readonly query: unknown; readonly body: unknown }
  | { readonly refused: ArsenalError; readonly status: number };

export type RequestReader = (exchange: HttpExchange, params: Readonly<Record<string, string>>) => Promise<ReadRequest>;

const NOTHING: JsonSchema = { type: "object", properties: {} };

export function createReader(operation: Operation, validator: Validator): RequestReader {
  const { maxBytes = 1024 * 1024 } = operation;
  const reader = (where: string, given = NOTHING) => {
    const schema = closed(given);
    const check = validator.compile(schema, { trusted: true }) as Check;
    return {
      schema,
      async read(value: unknown): Promise<unknown> {
        const outcome = await check(value);
        if (!outcome.valid) throw toError(where, value, schema, outcome.problems);
        return outcome.value;
      },
    };
  };
  const [path, search, content] = [
    reader("path", operation.params),
    reader("query", operation.query),
    reader("body", operation.body),
  ];
  const mayBeEmpty = (content.schema.required ?? []).length === 0;

  return async (exchange, given) => {
    const { request, url } = exchange;
    const asked = readQuery(url.searchParams, search.schema);
    let sent: unknown = {};
    if (!mayBeEmpty || hasBody(request.headers)) {
      const json = await exchange.json({ maxBytes });
      if ("refused" in json) {
        const { status, message } = json.refused;
        return { refused: new ArsenalError("INPUT_INVALID", message, { fix: FIXES[status] ?? SEND_JSON }), status };
      }
      sent = json.value;
    }
    return { params: await path.read(given), query: await search.read(asked), body: await content.read(sent) };
  };
}

const SEND_JSON = "Send a JSON object with the header Content-Type: application/json.";

const FIXES: Readonly<Record<number, string>> = {
  408: "Send the whole body at once.",
  413: "Send less, or split the request.",
};

/** Refuses members that a schema does not name, unless the schema allows them. */
export function closed(schema: JsonSchema): JsonSchema {
  return schema.properties === undefined || "additionalProperties" in schema
    ? schema
    : { ...schema, additionalProperties: false };
}

function hasBody(headers: HttpExchange["request"]["headers"]): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

/** Parses parameters by their schemas. An invalid value stays a string, so that the check names it in the error. */
function readQuery(given: URLSearchParams, schema: JsonSchema): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const name of new Set(given.keys())) {
    const values = given.getAll(name);
    const [value = ""] = values;
    const property = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    const { type, items } = isPlainObject(property) ? (property as JsonSchema) : {};
    if (type === "array") {
      const { type: itemType } = isPlainObject(items) ? (items as JsonSchema) : {};
      read[name] = values.flatMap((each) => each.split(",")).map((each) => coerced(each, itemType));
    } else if (values.length > 1) {
      const problem = `The query parameter ${name} is given ${values.length} times.`;
      throw fixable("INPUT_INVALID", problem, `Send ${name} once.`, { field: name });
    } else read[name] = coerced(value, type);
  }
  return read;
}

function coerced(value: string, type: JsonSchema["type"]): unknown {
  if ((type === "integer" || type === "number") && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}

function toError(where: string, value: unknown, schema: JsonSchema, problems: readonly Problem[]): ArsenalError {
  const all = problems.slice(0, 20).map((problem) => toIssue(problem, value, schema));
  // A missing parameter is usually caused by a misspelled name, so that issue comes first.
  const issues = all.toSorted((one, other) => Number(isMisspelt(other)) - Number(isMisspelt(one)));
  const [first] = issues;
  const { field = "", message = "", fix = "" } = first ?? {};
  const details = { field, fix, issues, ...(first && "value" in first && { value: first.value }) };
  return new ArsenalError("INPUT_INVALID", `The ${where} is invalid: ${message} ${fix}`, details);
}

function toIssue(problem: Problem, root: unknown, schema: JsonSchema): ErrorIssue {
  const { field, message } = problem;
  const member = field === "" ? root : follow(root, field.split("."));
  const found = typeof member === "object" ? showValue(member) : member;
  return {
    field,
    message: isUnknown(problem) ? `${field} is not known here.` : message,
    ...(found !== undefined && { value: found }),
    fix: fixOf(problem, Object.keys(schema.properties ?? {})),
  };
}

function isMisspelt({ fix = "" }: ErrorIssue): boolean {
  return fix.startsWith("Did you mean");
}
