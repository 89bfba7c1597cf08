import { ArsenalError, type ErrorIssue } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { fixOf, isUnknown } from "../../execute/arguments/fix-of.ts";
import type { Check, Problem, Validator } from "../../execute/validator.port.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { HttpExchange } from "../surface.ts";
import type { Operation } from "./operation.ts";

/** What a request says, checked, or why it is refused. */
export type ReadRequest =
  | { readonly params: unknown; readonly query: unknown; readonly body: unknown }
  | { readonly refused: ArsenalError; readonly status: number };

/** Reads the requests of one operation. */
export type RequestReader = (exchange: HttpExchange, params: Readonly<Record<string, string>>) => Promise<ReadRequest>;

const NOTHING: JsonSchema = { type: "object", properties: {} };

/** Compiles what reads the requests of an operation. */
export function createReader(operation: Operation, validator: Validator): RequestReader {
  const { maxBytes = 1024 * 1024 } = operation;
  const querySchema = closed(operation.query ?? NOTHING);
  const bodySchema = closed(operation.body ?? NOTHING);
  const compile = (schema: JsonSchema): Check => validator.compile(schema, { trusted: true }) as Check;
  const checkParams = operation.params && compile(operation.params);
  const checkQuery = compile(querySchema);
  const checkBody = compile(bodySchema);
  const mayBeEmpty = (bodySchema.required ?? []).length === 0;

  return async (exchange, given) => {
    const { request, url } = exchange;
    const query = url.search === "" ? {} : readQuery(url.searchParams, querySchema);
    if (query instanceof ArsenalError) return invalid(query);
    let body: unknown = {};
    if (!mayBeEmpty || hasBody(request.headers)) {
      const read = await exchange.json({ maxBytes });
      if ("refused" in read) {
        const { status, message } = read.refused;
        return { refused: new ArsenalError("INPUT_INVALID", message, { fix: FIXES[status] ?? SEND_JSON }), status };
      }
      body = read.value;
    }
    const checks = [
      { name: "path", schema: operation.params, check: checkParams, value: given },
      { name: "query", schema: querySchema, check: checkQuery, value: query },
      { name: "body", schema: bodySchema, check: checkBody, value: body },
    ] as const;
    const values: unknown[] = [];
    for (const { name, schema = NOTHING, check, value } of checks) {
      const outcome = check === undefined ? { valid: true as const, value } : await check(value);
      if (!outcome.valid) return invalid(toError(name, value, schema, outcome.problems));
      values.push(outcome.value);
    }
    const [params, readQueryValue, readBody] = values;
    return { params, query: readQueryValue, body: readBody };
  };
}

const SEND_JSON = "Send a JSON object with the header Content-Type: application/json.";

const FIXES: Readonly<Record<number, string>> = {
  408: "Send the whole body at once.",
  413: "Send less, or split the request.",
};

/** Members that a schema does not name are refused unless it says otherwise. */
export function closed(schema: JsonSchema): JsonSchema {
  return schema.properties === undefined || "additionalProperties" in schema
    ? schema
    : { ...schema, additionalProperties: false };
}

function hasBody(headers: HttpExchange["request"]["headers"]): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

function invalid(refused: ArsenalError): ReadRequest {
  return { refused, status: 400 };
}

/** Reads parameters as their schemas say. A text that does not fit stays a text, so that the check refuses it by name. */
function readQuery(given: URLSearchParams, schema: JsonSchema): Record<string, unknown> | ArsenalError {
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
      const fix = `Send ${name} once.`;
      return new ArsenalError("INPUT_INVALID", `The query parameter ${name} is there ${values.length} times. ${fix}`, {
        field: name,
        fix,
      });
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
  // A misspelt name is the likeliest reason for one that is missing.
  const issues = all.toSorted((one, other) => Number(isMisspelt(other)) - Number(isMisspelt(one)));
  const [first] = issues;
  const { field = "", message = "", fix = "" } = first ?? {};
  const details = { field, fix, issues, ...(first && "value" in first && { value: first.value }) };
  return new ArsenalError("INPUT_INVALID", `The ${where} is invalid: ${message} ${fix}`, details);
}

function toIssue(problem: Problem, root: unknown, schema: JsonSchema): ErrorIssue {
  const { field, message } = problem;
  const found = memberOf(root, field);
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

function memberOf(root: unknown, field: string): unknown {
  let value = root;
  for (const name of field === "" ? [] : field.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return typeof value === "object" ? showValue(value) : value;
}
