import { toAlias } from "../../transcode/alias.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";

/** Function definitions as OpenAI's Chat Completions API takes them. */
export function openai(): Dialect {
  return {
    name: "openai",
    fromCanonical: (tool) => ({
      type: "function",
      function: { name: toAlias(tool.id), description: tool.description, parameters: tool.parameters },
    }),
  };
}
