import type { Emit } from "../../observe/events.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ArgumentChecks, CheckedArguments } from "./check-arguments.ts";
import type { CallIds } from "../steps/handler-context.ts";

/** Repairs arguments to fit a schema if the intent is clear. Reverts changes by a provider's dialect, and fixes common mistakes of models. */
export type RepairArguments = (
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
) => Promise<{
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly repairs: readonly { readonly path: string; readonly message: string }[];
}>;

interface CheckParts {
  readonly checks: ArgumentChecks;
  readonly repair?: RepairArguments | undefined;
  readonly emit: Emit;
}

/** Checks arguments. If they do not fit, or name unknown parameters, repairs and checks again. If that fails, reports the original problems. */
export async function checkOrRepair(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  ids: CallIds,
  { checks, repair, emit }: CheckParts,
): Promise<CheckedArguments> {
  const first = await checks.check(tool, given);
  const mayRepair = first.valid ? hasStrangeName(given, tool.parameters) : first.error.code === "ARGUMENTS_INVALID";
  if (repair === undefined || !mayRepair) return first;
  const { arguments: repaired, repairs } = await repair(given, tool.parameters);
  if (repairs.length === 0) return first;
  const second = await checks.check(tool, repaired);
  if (!second.valid) return first;
  emit("arguments-repaired", { toolId: tool.id, ...ids, repairs });
  return second;
}

/** A dialect may have renamed a parameter to a name that its provider accepts. */
function hasStrangeName(given: Readonly<Record<string, unknown>>, { properties }: JsonSchema): boolean {
  return isPlainObject(properties) && Object.keys(given).some((name) => !Object.hasOwn(properties, name));
}
