import type { Principal } from "../guard/principal.ts";
import type { Handler, HandlerContext } from "../tool/handler.ts";
import type { Tool, ToolSource } from "../tool/tool.ts";

/** Runs tools somewhere: in this process, in a sandbox, or on another machine. */
export interface Executor {
  readonly name: string;
  supports(source: ToolSource): boolean;
  /** Resolves with the tool's result; rejects with its error. Ends soon after `context.signal` fires. */
  run(request: RunRequest): Promise<unknown>;
}

/** One run: checked arguments, and the handler if the tool has one. */
export interface RunRequest {
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly handler: Handler | undefined;
  readonly context: HandlerContext;
  /** The caller, with all its permissions. Handlers do not get it. Omitted outside an arsenal. */
  readonly principal?: Principal;
  readonly toolset?: string | undefined;
}
