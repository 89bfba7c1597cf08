import type { ToolArsenal } from "../arsenal.ts";
import type { ToolResult } from "../execute/result.ts";
import type { JsonSchema } from "../tool/json-schema.ts";
import type { Tool } from "../tool/tool.ts";

/** Tools that share one lifecycle and its defaults: the invokers of a descriptor, or those of one MCP server. */
export interface Ensemble {
  readonly name: string;
  /** By the name that the descriptor or the server gives. Follows changes while connected; empty before `connect`. */
  readonly invokers: ReadonlyMap<string, Invoker>;
  /** The ensemble's defaults and settings, as written. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** What the ensemble is connected to, such as an MCP upstream; undefined if it needs no connection. */
  readonly connection: unknown;
  /** The arsenal that its tools are registered in and run through. */
  readonly arsenal: ToolArsenal;
  /** Registers its tools, and connects what they need. Leaves nothing behind if it fails. */
  connect(): Promise<void>;
  /** Removes its tools and releases everything. Safe to call twice. */
  disconnect(): Promise<void>;
  /** Throws TOOL_NOT_FOUND, with the nearest name, if there is none of that name. */
  accessInvoker(name: string): Invoker;
}

/** One tool of an ensemble. */
export interface Invoker {
  /** The name within the ensemble. */
  readonly name: string;
  readonly tool: Tool;
  readonly argumentsSchema: JsonSchema;
  readonly ensemble: Ensemble;
  /** Runs the tool through the arsenal, under its policy. A failing tool is a result with a status. */
  invoke(arguments_: Readonly<Record<string, unknown>>, options?: InvokeOptions): Promise<ToolResult>;
}

export interface InvokeOptions {
  /** Handed to the handler as `context.auxdata`. */
  readonly auxdata?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}
