/** The parts of Genkit that the integration uses. Users compile against Genkit itself. */
declare module "genkit" {
  export type ActionContext = Record<string, unknown>;
  export type JSONSchema7 = object;

  export interface MessageData {
    role: "system" | "user" | "model" | "tool";
    content: {
      text?: string;
      toolRequest?: { name: string; ref?: string };
      toolResponse?: { name: string; ref?: string; output?: unknown };
    }[];
  }

  export interface MiddlewareRef {
    name: string;
  }

  export interface ToolAction {
    (input: unknown, options?: object): Promise<unknown>;
    __action: { name: string };
  }

  interface GenerateEnvelope {
    request: { messages: MessageData[]; tools?: string[] };
    currentTurn: number;
    messageIndex: number;
  }

  interface ActionRunOptions {
    context?: ActionContext;
    abortSignal?: AbortSignal;
    onChunk?: (chunk: { role: "tool"; content: []; custom: unknown }) => void;
  }

  interface ToolRequestPart {
    toolRequest: { name: string; ref?: string };
  }

  export interface GenerateMiddlewareDef {
    generate?: (
      envelope: GenerateEnvelope,
      run: ActionRunOptions,
      next: (envelope: GenerateEnvelope, run: ActionRunOptions) => Promise<object>,
    ) => Promise<object>;
    tool?: (
      part: ToolRequestPart,
      run: ActionRunOptions,
      next: (part: ToolRequestPart, run: ActionRunOptions) => Promise<object | undefined>,
    ) => Promise<object | undefined>;
  }

  export function generateMiddleware(
    options: { name: string },
    create: (options: { ai: { currentContext(): ActionContext | undefined } }) => GenerateMiddlewareDef,
  ): () => MiddlewareRef;

  interface ToolCallOptions {
    resumed?: boolean | Record<string, unknown>;
    metadata?: Record<string, unknown>;
    context: ActionContext;
    abortSignal: AbortSignal;
    interrupt(metadata?: Record<string, unknown>): never;
  }

  export function tool(
    config: { name: string; description: string; inputJsonSchema: JSONSchema7 },
    run: (input: unknown, call: ToolCallOptions) => Promise<unknown>,
  ): ToolAction;
}

declare module "genkit/tool" {
  export function toToolDefinition(tool: never): { name: string; description: string; inputSchema?: unknown };
}
