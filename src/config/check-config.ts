import { ajv } from "../adapters/validators/ajv.ts";
import { ArsenalError, type ErrorIssue } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { Check } from "../execute/validator.port.ts";
import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import { toSnake } from "./key-style.ts";
import { CONFIG_SCHEMA } from "./schema.ts";

/** How keys are spelled where the configuration came from: snake in files, camel in code. */
export type KeyStyle = "snake" | "camel";

let compiled: Check | undefined;

/**
 * Checks a configuration and returns it in camelCase with every default filled in. All problems are reported at once, each with the key,
 * the value and the fix; `locate` adds where in a file a key stands.
 */
export function checkConfig(
  value: unknown,
  style: KeyStyle,
  locate: (path: readonly string[]) => string = () => "",
): Record<string, unknown> {
  if (!isPlainObject(value)) {
    throw new ArsenalError("CONFIG_INVALID", `A configuration is a mapping of keys, not ${showValue(value)}.`, {
      field: "",
      value,
      fix: "Start with a key such as `execution:`.",
    });
  }
  const issues: (ErrorIssue & { readonly at: string })[] = [];
  const camel = renameKeys(value, CONFIG_SCHEMA, style, [], (path, key, known) => {
    const meant = nearest(key, known);
    issues.push({
      field: [...path, key].join("."),
      message: `unknown key "${key}"`,
      fix: meant ? `Did you mean "${meant}"?` : `Known keys here: ${known.join(", ")}.`,
      at: locate([...path, key]),
    });
  });
  compiled ??= ajv().compile(CONFIG_SCHEMA);
  const checked = compiled(camel);
  if (!checked.valid) {
    for (const problem of checked.problems) {
      const path = problem.field.split(".").filter(Boolean);
      const shown = style === "snake" ? path.map(toSnake) : path;
      const field = shown.join(".");
      const held = valueAt(camel, path);
      issues.push({
        field,
        message: `${problem.message}${held === undefined ? "" : `, not ${isSecret(field) ? "the given value" : showValue(held)}`}`,
        ...(isSecret(field) ? {} : { value: held }),
        fix: `Set ${field} to ${problem.expected}.`,
        at: locate(shown),
      });
    }
  }
  const [first] = issues;
  if (first) {
    const rest = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
    throw new ArsenalError("CONFIG_INVALID", `${first.at}${first.field}: ${first.message}. ${first.fix}${rest}`, {
      field: first.field,
      value: first.value,
      ...(first.fix === undefined ? {} : { fix: first.fix }),
      issues: issues.map(({ at, ...issue }) => ({ ...issue, message: `${at}${issue.message}` })),
    });
  }
  return (checked as { readonly value: Record<string, unknown> }).value;
}

type OnUnknown = (path: readonly string[], key: string, known: readonly string[]) => void;

/** Copies a value with its keys as the schema spells them. Unknown keys are reported and left out, so that one typo is one problem. */
function renameKeys(
  value: unknown,
  schema: JsonSchema,
  style: KeyStyle,
  path: readonly string[],
  onUnknown: OnUnknown,
): unknown {
  if (Array.isArray(value) && isPlainObject(schema.items)) {
    return value.map((item, index) =>
      renameKeys(item, schema.items as JsonSchema, style, [...path, String(index)], onUnknown),
    );
  }
  if (!isPlainObject(value) || !isPlainObject(schema.properties)) return value;
  const spelled = new Map(Object.keys(schema.properties).map((key) => [style === "snake" ? toSnake(key) : key, key]));
  const renamed: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const canonical = spelled.get(key);
    if (canonical === undefined) onUnknown(path, key, [...spelled.keys()]);
    else if (member !== undefined && member !== null) {
      renamed[canonical] = renameKeys(
        member,
        schema.properties[canonical] as JsonSchema,
        style,
        [...path, key],
        onUnknown,
      );
    }
  }
  return renamed;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (current, key) =>
      Array.isArray(current) ? current[Number(key)] : isPlainObject(current) ? current[key] : undefined,
    value,
  );
}

function isSecret(field: string): boolean {
  return /key|token|secret|password|authorization/i.test(field);
}
