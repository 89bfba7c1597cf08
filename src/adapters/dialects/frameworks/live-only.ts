import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import type { LiveTool, ToolReader } from "../../../transcode/dialect.port.ts";

export interface FrameworkTools<Tool> {
  readonly name: string;
  /** The functions that create such a tool, for error messages. */
  readonly made: string;
  isTool(given: Partial<Tool>): boolean;
  read(tool: Tool): Promise<FrameworkTool>;
}

/** A framework's tool: its definition as plain data, and its handler. */
export interface FrameworkTool extends LiveTool {
  readonly definition: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema | undefined;
  };
}

/** Creates the reader of a framework whose tools are always objects with a handler. Throws INPUT_INVALID for anything else. */
export function liveOnly<Tool>({ name, made, isTool, read }: FrameworkTools<Tool>): ToolReader {
  return {
    name,
    readLive(given) {
      if (isTool(given as Partial<Tool>)) return read(given as Tool);
      const fix = `Give tools made with ${made}.`;
      const value = showValue(given);
      throw fixable("INPUT_INVALID", `This is not a tool of ${name}: ${value}.`, fix, { field: "tools", value });
    },
    toCanonical: (definition) => definition as FrameworkTool["definition"],
  };
}
