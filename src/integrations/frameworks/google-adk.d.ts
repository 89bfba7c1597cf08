/** The parts of Google's Agent Development Kit that the integration uses. Users compile against the kit itself. */
declare module "@google/adk" {
  interface ContentPart {
    text?: string;
    thought?: boolean;
    functionCall?: { id?: string; name?: string };
    functionResponse?: { id?: string; name?: string; response?: Record<string, unknown> };
  }

  export interface Event {
    author?: string;
    partial?: boolean;
    content?: { parts?: ContentPart[] };
  }

  export class InvocationContext {
    readonly session: { readonly events: Event[] };
    readonly abortSignal?: AbortSignal;
    eventQueue?: { push(event: Event): void };
  }

  export class ReadonlyContext {
    readonly invocationContext: InvocationContext;
    get invocationId(): string;
    get agentName(): string;
    get userId(): string;
    get sessionId(): string;
  }

  export class Context extends ReadonlyContext {
    readonly functionCallId?: string;
    readonly abortSignal?: AbortSignal;
    toolConfirmation?: { confirmed: boolean };
    get actions(): { skipSummarization?: boolean };
    requestConfirmation(request: { hint?: string; payload?: unknown }): void;
  }

  export interface RunAsyncToolRequest {
    args: Record<string, unknown>;
    toolContext: Context;
  }

  export abstract class BaseTool {
    readonly name: string;
    readonly description: string;
    constructor(tool: { name: string; description: string });
    _getDeclaration(): object | undefined;
    checkRequireConfirmation(args: Record<string, unknown>, context?: Context): Promise<boolean>;
    abstract runAsync(request: RunAsyncToolRequest): Promise<unknown>;
  }

  export abstract class BaseToolset {
    constructor(toolFilter: string[]);
    abstract getTools(context?: ReadonlyContext): Promise<BaseTool[]>;
    abstract close(): Promise<void>;
  }

  export const REQUEST_CONFIRMATION_FUNCTION_CALL_NAME: string;

  export function createEvent(event: {
    invocationId: string;
    author: string;
    partial: boolean;
    customMetadata: Record<string, unknown>;
  }): Event;
}
