/** The parts of the OpenAI Agents SDK that the integration uses. Users compile against the SDK itself. */
declare module "@openai/agents" {
  export class RunContext<Context = unknown> {
    context: Context;
    isToolApproved(approval: { toolName: string; callId: string }): boolean | undefined;
  }

  export interface ToolCallDetails {
    toolCall?: { callId: string };
    signal?: AbortSignal;
  }

  export interface FunctionTool<Context = unknown> {
    type: "function";
    name: string;
    isEnabled: (runContext: RunContext<Context>, agent: never) => Promise<boolean>;
  }

  export function tool<Parameters, Context = unknown>(options: {
    name: string;
    description: string;
    parameters: object;
    strict: false;
    isEnabled: (options: { runContext: RunContext<Context> }) => Promise<boolean>;
    needsApproval: (runContext: RunContext<Context>, input: unknown, callId?: string) => Promise<boolean>;
    execute: (input: unknown, runContext?: RunContext<Context>, details?: ToolCallDetails) => Promise<unknown>;
    errorFunction: (runContext: RunContext<Context>, error: unknown) => string;
  }): FunctionTool<Context>;

  export interface AgentInputItem {
    type?: string;
    role?: string;
    content?: string | readonly { text?: string }[];
    callId?: string;
    name?: string;
    output?: unknown;
  }

  export interface ModelRequest {
    input: string | AgentInputItem[];
    tools: { type: string; name: string }[];
    signal?: AbortSignal;
  }

  export interface Model {
    getResponse(request: ModelRequest): Promise<unknown>;
    getStreamedResponse(request: ModelRequest): AsyncIterable<unknown>;
  }

  export interface ModelProvider {
    getModel(modelName?: string): Promise<Model> | Model;
  }
}
