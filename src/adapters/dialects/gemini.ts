import { toAlias } from "../../transcode/alias.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";

/** Function declarations as Google's Gemini API takes them, with the JSON Schema passed whole. */
export function gemini(): Dialect {
  return {
    name: "gemini",
    fromCanonical: (tool) => ({
      name: toAlias(tool.id),
      description: tool.description,
      parametersJsonSchema: tool.parameters,
    }),
  };
}
