import type { JsonSchema } from "../../../src/tool/json-schema.ts";

export interface SourceForm {
  readonly type: string;
  /** The required settings, and the first optional ones. */
  readonly main: JsonSchema;
  /** The other settings. */
  readonly more: JsonSchema;
}

/** The number of settings shown first. The others are behind "More settings". */
const MAIN = 8;

export function sourceForm(type: string, schema: JsonSchema): SourceForm {
  const all = Object.entries(schema.properties ?? {}).filter(([key]) => key !== "type");
  const required = schema.required ?? [];
  const needed = all.filter(([key]) => required.includes(key));
  const others = all.filter(([key]) => !required.includes(key));
  const shown = Math.max(0, MAIN - needed.length);
  const of = (entries: typeof all): JsonSchema => {
    return { type: "object", properties: Object.fromEntries(entries), required };
  };
  return { type, main: of([...needed, ...others.slice(0, shown)]), more: of(others.slice(shown)) };
}
