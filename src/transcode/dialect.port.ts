import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import type { SourceDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import type { SchemaFeature } from "./features.ts";

/** One provider's format for tool definitions, for calls in its answers, and for results. Everything is plain data for the provider's library. */
export interface Dialect<Definition = Record<string, unknown>, Message = Record<string, unknown>> {
  readonly name: string;
  /** Returns whether the provider accepts a JSON Schema feature unchanged. */
  supports(feature: SchemaFeature, options?: { readonly strict?: boolean }): boolean;
  /** Returns the definition in the provider's format. Its name is the tool's alias, which `execute` accepts. */
  fromCanonical(tool: Tool, options?: ConvertOptions): Definition;
  /** Like `fromCanonical`, with the losses of the conversion. */
  convert(tool: Tool, options?: ConvertOptions): Converted<Definition>;
  /**
   * Reads a tool from a definition in this dialect. A definition that `convert` wrote yields exactly the original tool. If the definition went
   * through JSON, pass `original` to get the same. Throws INPUT_INVALID if the value is not a definition of this dialect.
   */
  toCanonical(definition: unknown, options?: { readonly original?: Tool }): SourceDraft;
  /**
   * Returns the definition and handler of a framework's tool object that runs itself. Returns undefined for a plain definition. Omit this method if
   * tools of this dialect are always data. Throws INPUT_INVALID or TOOL_INVALID if the object cannot be read.
   */
  readLive?(tool: object): LiveTool | Promise<LiveTool> | undefined;
  /** Returns the calls in one of the provider's answers, in order; [] if there are none. An unreadable call has a `problem`. */
  readCalls(response: unknown): readonly ReadCall[];
  /** Returns the messages, items, blocks or parts to append to the conversation, so that the provider gets the outcomes. */
  writeResults(results: readonly AnsweredCall[]): readonly Message[];
  /** Collects the calls of a streamed answer. Omit it if the provider does not stream calls. */
  readStream?(): CallStream;
  /** The limits of one request to the provider. */
  readonly limits?: SetLimits;
  /** How tools are written for the provider's own tool search. Omit it if the provider has none. */
  readonly providerSearch?: ProviderSearch<Definition>;
}

/** A provider's own tool search: the model sees a few definitions from the start and searches for the others. */
export interface ProviderSearch<Definition = Record<string, unknown>, Offered extends object = object> {
  /** The maximum number of tools in one request, loaded and deferred. Defaults to no limit. */
  readonly maxTools?: number;
  /**
   * Writes the tools of one request. `loaded` are in the model's context from the start, best first; `deferred` are loaded when the model's search
   * finds them. Without deferred tools, only the loaded ones are written.
   */
  write(loaded: readonly Definition[], deferred: readonly DeferredTool<Definition>[]): Offered[];
}

/** A definition that the provider loads when the model's search finds it, with its tool. */
export interface DeferredTool<Definition = Record<string, unknown>> {
  readonly tool: Tool;
  readonly definition: Definition;
}

/** The part of a dialect that imports tools. */
export type ToolReader = Pick<Dialect, "name" | "toCanonical" | "readLive">;

/** A dialect that also reads streamed answers, like every built-in one. */
export interface StreamingDialect<
  Definition = Record<string, unknown>,
  Message = Record<string, unknown>,
> extends Dialect<Definition, Message> {
  writeResults(results: readonly AnsweredCall[]): Message[];
  readStream(): CallStream;
}

/** A dialect whose provider searches for tools itself. */
export interface SearchingDialect<Definition, Message, Offered extends object> extends StreamingDialect<
  Definition,
  Message
> {
  readonly providerSearch: ProviderSearch<Definition, Offered>;
}

/** A tool with its own handler. */
export interface LiveTool {
  /** The input for `toCanonical`. */
  readonly definition: object;
  readonly handler?: Handler;
  /** Fields that only the framework's object has. */
  readonly draft?: SourceDraft;
}

/** Options to write a definition. */
export interface ConvertOptions {
  /** Uses the provider's strict mode, if the tool supports it. */
  readonly strict?: boolean;
  /** The name to use instead of the alias, for callers who resolve names themselves. */
  readonly name?: string;
}

/** A definition and the losses of its conversion. */
export interface Converted<Definition = Record<string, unknown>> {
  readonly definition: Definition;
  /** True if the definition is marked strict. */
  readonly strict: boolean;
  readonly losses: readonly Loss[];
}

/** One call in a provider's answer. */
export interface ReadCall {
  /** The provider's id of the call, which its result must repeat. */
  readonly id: string;
  /** True if the provider sent no id. `id` is then unique only within the answer, and is not sent back. */
  readonly idMadeUp?: true;
  /** The call for `execute`, with the alias as `toolName`. `arguments` is omitted if it could not be read. */
  readonly call: Pick<ToolCall, "toolName" | "arguments">;
  /** The arguments as text, if the provider sent text. */
  readonly rawArguments?: string;
  /** Why the call cannot be made, for the model to fix. */
  readonly problem?: string;
}

/** A call and its outcome. */
export interface AnsweredCall {
  readonly read: ReadCall;
  readonly result: ToolResult;
}

/** Reads one streamed answer. */
export interface CallStream {
  /** Processes one event, chunk or part from the provider. Returns the calls that it completes. */
  push(event: unknown): readonly ReadCall[];
  /** Returns the calls that were open when the stream ended, complete or not. */
  end(): readonly ReadCall[];
}

/** The limits of one request, over all its tools. */
export interface SetLimits {
  readonly maxTools?: number;
  readonly maxStrictTools?: number;
  readonly maxOptionalParameters?: number;
  /** Parameters with several types, over all strict tools. */
  readonly maxUnionParameters?: number;
  readonly maxProperties?: number;
  readonly maxDepth?: number;
  readonly maxEnumValues?: number;
  readonly maxCharacters?: number;
}

/** One change of a schema during conversion. */
export interface Loss {
  /** JSON Pointer into the tool's parameters: `/properties/when/format`. */
  readonly path: string;
  readonly keyword: string;
  /**
   * `resolved`: the same values are accepted, written differently. `described`: moved to the description for the model to read. `widened`: more
   * values are accepted than in the original, which still checks them. `dropped`: removed. `refused`: why the tool cannot be strict.
   */
  readonly action: "resolved" | "described" | "widened" | "dropped" | "refused";
  /** The change, in words. */
  readonly message: string;
}
