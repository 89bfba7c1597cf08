import { fixable } from "../../errors/arsenal-error.ts";
import { nearest, showValue } from "../../errors/show-value.ts";
import { sources } from "./manifest.ts";
import type { SourceAdapter } from "./source-adapter.ts";

/** Loads the module of a source. Rejects with CONFIG_INVALID if no source has the name. */
export async function loadSource(name: unknown): Promise<SourceAdapter> {
  const names = Object.keys(sources);
  if (typeof name === "string" && names.includes(name))
    return (await sources[name as keyof typeof sources]()) as unknown as SourceAdapter;
  const near = typeof name === "string" ? nearest(name, names) : undefined;
  const fix = near === undefined ? `Set type to one of ${names.join(", ")}.` : `Did you mean "${near}"?`;
  throw fixable("CONFIG_INVALID", `${showValue(name)} is not a type of source.`, fix, { field: "type", value: name });
}
