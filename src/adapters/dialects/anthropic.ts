import { toAlias } from "../../transcode/alias.ts";
import type { Dialect } from "../../transcode/dialect.port.ts";

/** Tool definitions as Anthropic's Messages API takes them. */
export function anthropic(): Dialect {
  return {
    name: "anthropic",
    fromCanonical: (tool) => ({ name: toAlias(tool.id), description: tool.description, input_schema: tool.parameters }),
  };
}
