/** The parts of Mastra that the integration uses. Users compile against Mastra itself. */
declare module "@mastra/core/request-context" {
  export class RequestContext {
    get(key: string): unknown;
  }
}

declare module "@mastra/core/tools" {
  import type { RequestContext } from "@mastra/core/request-context";

  export interface ToolExecutionContext {
    readonly requestContext?: RequestContext;
    readonly abortSignal?: AbortSignal;
    readonly writer?: { write(chunk: unknown): Promise<void> };
    readonly agent?: {
      readonly toolCallId: string;
      readonly resumeData?: unknown;
      suspend(payload: unknown): Promise<void>;
    };
  }

  export interface Tool {
    readonly id: string;
  }

  export function createTool(options: {
    id: string;
    description: string;
    inputSchema: object;
    execute: (input: unknown, context: ToolExecutionContext) => Promise<unknown>;
  }): Tool;
}

declare module "@mastra/core/processors" {
  import type { ModelMessage } from "ai";
  import type { RequestContext } from "@mastra/core/request-context";

  export interface ProcessInputStepArgs {
    readonly messageList: { readonly get: { readonly all: { readonly aiV5: { model(): ModelMessage[] } } } };
    readonly tools?: Record<string, unknown>;
    readonly requestContext?: RequestContext;
  }

  export interface Processor {
    readonly id: string;
  }
}
