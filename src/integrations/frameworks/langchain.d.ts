/** The parts of LangChain and LangGraph, besides `@langchain/core`, that the integration uses. Users compile against the packages themselves. */
declare module "langchain" {
  import type { BaseMessage, ToolMessage } from "@langchain/core/messages";

  export interface AgentMiddleware {
    readonly name: string;
  }

  export interface Runtime {
    readonly context?: unknown;
    readonly signal?: AbortSignal;
    readonly writer?: ((chunk: unknown) => void) | null;
  }

  export interface ModelRequest {
    readonly messages: BaseMessage[];
    readonly tools: object[];
    readonly runtime: Runtime;
  }

  export interface ToolCallRequest {
    readonly toolCall: { readonly id?: string; readonly name: string; readonly args: Record<string, unknown> };
    readonly tool: object | undefined;
    readonly runtime: Runtime;
  }

  export function createMiddleware(options: {
    name: string;
    wrapModelCall<Answer>(request: ModelRequest, handler: (request: ModelRequest) => Promise<Answer>): Promise<Answer>;
    wrapToolCall<Answer>(
      request: ToolCallRequest,
      handler: (request: ToolCallRequest) => Promise<Answer>,
    ): Promise<Answer | ToolMessage>;
  }): AgentMiddleware;
}

declare module "@langchain/langgraph" {
  /** Pauses the graph with a value for a person, and returns the value that resumes it. */
  export function interrupt<Asked, Answered>(value: Asked): Answered;
  export function isGraphInterrupt(error: unknown): boolean;
}
