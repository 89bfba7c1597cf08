import { isPlainObject, type JsonSchema } from "../tool/json-schema.ts";
import { WRAPPER } from "./convert/convert-root.ts";
import { below, createReferences, type References } from "./schema/find-reference.ts";
import { fits, parameterNames, partsOf, startEffort } from "./repair/fits.ts";
import { saferNames } from "./schema/parameter-names.ts";
import { type RepairTask, repairValue } from "./repair/repair-value.ts";
import { remember } from "../base/remember.ts";

/** One repair of arguments. */
export interface Repair {
  /** JSON Pointer into the arguments. */
  readonly path: string;
  readonly message: string;
}

/** Converts arguments for the converted schema back to the original. Does not guess. In valid arguments, only parameter names change. */
export function repairArguments(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
): { readonly arguments: Record<string, unknown>; readonly repairs: readonly Repair[] } {
  const task: RepairTask = {
    references: isPlainObject(schema) ? indexOf(schema) : createReferences(schema),
    effort: startEffort(),
    path: "",
    depth: 0,
  };
  const { references, effort } = task;
  const repairs: Repair[] = [];
  const named = rename(args, schema, references, repairs);
  if (fits(named, schema, references, effort)) return { arguments: named, repairs };
  const unwrapped = unwrap(named, schema, task);
  if (unwrapped !== undefined) {
    repairs.push({ path: below("", WRAPPER), message: "the parameters, taken out of their wrapper" });
    const inner = repairValue(unwrapped, schema, task);
    return { arguments: inner.value as Record<string, unknown>, repairs: [...repairs, ...inner.repairs] };
  }
  const repaired = repairValue(named, schema, task);
  if (!isPlainObject(repaired.value)) return { arguments: named, repairs };
  return { arguments: repaired.value, repairs: [...repairs, ...repaired.repairs] };
}

/** Schemas are used repeatedly, so each index is cached. */
const indexOf = remember((schema: JsonSchema) => createReferences(schema));

function rename(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  references: References,
  repairs: Repair[],
): Record<string, unknown> {
  const names = new Set(parameterNames(schema, references));
  const original = new Map([...saferNames([...names])].map(([name, safer]) => [safer, name]));
  if (original.size === 0) return { ...args };
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const own = names.has(name) ? undefined : original.get(name);
      if (own === undefined || Object.hasOwn(args, own)) return [name, value];
      repairs.push({ path: below("", own), message: `was given as ${name}` });
      return [own, value];
    }),
  );
}

/** Returns the content of the wrapper, if the schema rejects the wrapper and accepts its content. */
function unwrap(args: Readonly<Record<string, unknown>>, schema: JsonSchema, task: RepairTask): unknown {
  const { references, effort } = task;
  const names = Object.keys(args);
  const inner = args[WRAPPER];
  const hasUnion = partsOf(schema, references).some(({ anyOf, oneOf }) => Array.isArray(anyOf) || Array.isArray(oneOf));
  if (names.length !== 1 || !isPlainObject(inner) || !hasUnion) return undefined;
  const { value } = repairValue(inner, schema, task);
  return fits(value, schema, references, effort) ? inner : undefined;
}
