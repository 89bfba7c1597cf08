/** The parts of LlamaIndex.TS that the integration uses. Users compile against LlamaIndex itself. */
declare module "@llamaindex/core/llms" {
  export interface ChatMessage {
    role: "user" | "assistant" | "system" | "memory" | "developer";
    content: string | ({ type: "text"; text: string } | { type: "image_url" | "audio" | "video" | "image" | "file" })[];
    options?: object | undefined;
  }

  export interface BaseToolWithCall {
    metadata: { name: string; description: string; parameters?: Record<string, unknown> };
    call(input: unknown): unknown;
  }

  export interface ToolCallLLM {
    readonly supportToolCall: boolean;
  }
}

declare module "@llamaindex/workflow" {
  import type { BaseToolWithCall, ChatMessage, ToolCallLLM } from "@llamaindex/core/llms";

  export interface WorkflowEventData<Data> {
    get data(): Data;
  }

  export interface WorkflowEvent<Data> {
    with(data: Data): WorkflowEventData<Data>;
    include(event: unknown): event is WorkflowEventData<Data>;
  }

  export function workflowEvent<Data>(config: { debugLabel: string }): WorkflowEvent<Data>;

  export interface WorkflowContext {
    get signal(): AbortSignal;
    sendEvent(event: WorkflowEventData<unknown>): void;
  }

  export function getContext(): WorkflowContext;

  export interface AgentWorkflowState {
    scratchpad: ChatMessage[];
  }

  export interface FunctionAgentParams {
    name?: string | undefined;
    llm?: ToolCallLLM | undefined;
    description?: string | undefined;
    tools?: BaseToolWithCall[] | undefined;
    systemPrompt?: string | undefined;
  }

  export class FunctionAgent {
    readonly name: string;
    readonly tools: BaseToolWithCall[];
    constructor(params: FunctionAgentParams);
    takeStep(
      context: WorkflowContext,
      state: AgentWorkflowState,
      input: ChatMessage[],
      tools: BaseToolWithCall[],
    ): Promise<{ response: ChatMessage; toolCalls: unknown[]; raw: unknown; currentAgentName: string }>;
  }
}
