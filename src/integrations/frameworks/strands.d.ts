/** The parts of the Strands Agents SDK that the integration uses. Users compile against the SDK itself. */
declare module "@strands-agents/sdk" {
  export type JSONValue = string | number | boolean | null | { [key: string]: JSONValue } | JSONValue[];
  export type JSONSchema = object;
  export type InvocationState = Record<string, unknown>;

  export interface ToolSpec {
    name: string;
    description: string;
    inputSchema?: JSONSchema;
  }

  export class ToolStreamEvent {
    readonly type: "toolStreamEvent";
    readonly data?: unknown;
    constructor(event: { data?: unknown });
  }

  export class TextBlock {
    readonly type: "textBlock";
    readonly text: string;
    constructor(text: string);
  }

  export class JsonBlock {
    readonly type: "jsonBlock";
    readonly json: JSONValue;
    constructor(block: { json: JSONValue });
  }

  export class ToolUseBlock {
    readonly type: "toolUseBlock";
    readonly toolUseId: string;
    readonly name: string;
  }

  export type ToolResultContent = TextBlock | JsonBlock;

  export class ToolResultBlock {
    readonly type: "toolResultBlock";
    readonly toolUseId: string;
    readonly status: "success" | "error";
    readonly content: ToolResultContent[];
    constructor(block: { toolUseId: string; status: "success" | "error"; content: ToolResultContent[] });
  }

  export interface Message {
    readonly role: "user" | "assistant";
    readonly content: (TextBlock | ToolUseBlock | ToolResultBlock)[];
  }

  export interface ToolContext {
    toolUse: { name: string; toolUseId: string; input: JSONValue };
    invocationState: InvocationState;
    cancelSignal: AbortSignal;
    /** Throws until the interrupt is answered, then returns the answer. */
    interrupt(interrupt: { name: string; reason?: JSONValue }): JSONValue;
  }

  export interface Tool {
    name: string;
    description: string;
    toolSpec: ToolSpec;
    stream(context: ToolContext): AsyncGenerator<ToolStreamEvent, ToolResultBlock, undefined>;
  }

  export interface InvokeModelContext {
    readonly messages: readonly Message[];
    readonly toolSpecs: readonly ToolSpec[];
    readonly invocationState: InvocationState;
  }

  interface InputPhase<Context> {
    readonly context?: Context;
  }

  export const InvokeModelStage: { readonly Input: InputPhase<InvokeModelContext> };

  export class BeforeToolCallEvent {
    readonly toolUse: { name: string; toolUseId: string; input: JSONValue };
    readonly tool: Tool | undefined;
    readonly invocationState: InvocationState;
    selectedTool: Tool | undefined;
  }

  export interface LocalAgent {
    readonly cancelSignal: AbortSignal;
    addMiddleware<Context>(phase: InputPhase<Context>, handler: (context: Context) => Promise<Context>): () => void;
    addHook(event: typeof BeforeToolCallEvent, callback: (event: BeforeToolCallEvent) => Promise<void>): () => void;
  }

  export interface Plugin {
    readonly name: string;
    initAgent(agent: LocalAgent): void | Promise<void>;
  }
}
