import type { Tool } from "../tool/tool.ts";

/** One provider's shape for tool definitions. */
export interface Dialect {
  readonly name: string;
  /** The definition as the provider's API takes it. Its name is the tool's alias, which `execute` accepts. */
  fromCanonical(tool: Tool): Record<string, unknown>;
}
