import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import type { SourceDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import type { Tool } from "../tool/tool.ts";
import type { SchemaFeature } from "./features.ts";

/** One provider's format for tool definitions, for calls in its answers and for results. All plain data that the provider's library takes as it is. */
export interface Dialect<Definition = Record<string, unknown>, Message = Record<string, unknown>> {
  readonly name: string;
  /** Whether the provider takes a feature of JSON Schema as it is. */
  supports(feature: SchemaFeature, options?: { readonly strict?: boolean }): boolean;
  /** The definition as the provider's API takes it. Its name is the tool's alias, which `execute` accepts. */
  fromCanonical(tool: Tool, options?: ConvertOptions): Definition;
  /** The same, with what could not be carried over. */
  convert(tool: Tool, options?: ConvertOptions): Converted<Definition>;
  /**
   * A tool from a definition in this dialect, as a source would offer it. A definition that `convert` wrote gives back the tool it was written
   * from, exactly; `original` does so if the definition went through JSON. Throws INPUT_INVALID for anything that is not a definition of this dialect.
   */
  toCanonical(definition: unknown, options?: { readonly original?: Tool }): SourceDraft;
  /**
   * For frameworks whose tools are objects that run themselves: the definition of one as data, and what runs it. Undefined for a plain definition.
   * Omit it if tools of this dialect are only ever data. Throws INPUT_INVALID or TOOL_INVALID if the object cannot be read.
   */
  readLive?(tool: object): LiveTool | Promise<LiveTool> | undefined;
  /** The calls in one of the provider's answers, in its order; [] where it has none. What cannot be read is a call with `problem`. */
  readCalls(response: unknown): readonly ReadCall[];
  /** What to append to the conversation so that the provider sees the outcomes: its messages, items, blocks or parts. */
  writeResults(results: readonly AnsweredCall[]): readonly Message[];
  /** Collects the calls of a streamed answer. Omit it if the provider does not stream calls. */
  readStream?(): CallStream;
  /** What one request to the provider may hold in all. */
  readonly limits?: SetLimits;
}

/** A dialect that also reads streamed answers, as every built-in one does. */
export interface StreamingDialect<
  Definition = Record<string, unknown>,
  Message = Record<string, unknown>,
> extends Dialect<Definition, Message> {
  writeResults(results: readonly AnsweredCall[]): Message[];
  readStream(): CallStream;
}

/** A tool that brings what runs it. */
export interface LiveTool {
  /** What `toCanonical` reads. */
  readonly definition: object;
  readonly handler?: Handler;
  /** What only the framework's object says. */
  readonly draft?: SourceDraft;
}

/** How a definition is written. */
export interface ConvertOptions {
  /** Asks for the provider's strict mode, where the tool can have it. */
  readonly strict?: boolean;
  /** The name to write instead of the alias, for callers who resolve names themselves. */
  readonly name?: string;
}

/** A definition and what became of the tool on the way. */
export interface Converted<Definition = Record<string, unknown>> {
  readonly definition: Definition;
  /** True if the definition is marked strict. */
  readonly strict: boolean;
  readonly losses: readonly Loss[];
}

/** One call as a provider's answer has it. */
export interface ReadCall {
  /** The provider's id, which its result must name. */
  readonly id: string;
  /** True if the provider gave no id: `id` then only tells the calls of one answer apart and is not sent back. */
  readonly idMadeUp?: true;
  /** Ready for `execute`: the alias as `toolName`, and the arguments, which are absent if they could not be read. */
  readonly call: Pick<ToolCall, "toolName" | "arguments">;
  /** The arguments as text, where the provider sent text. */
  readonly rawArguments?: string;
  /** Why the call cannot be made, for the model to fix. */
  readonly problem?: string;
}

/** A call and how it ended. */
export interface AnsweredCall {
  readonly read: ReadCall;
  readonly result: ToolResult;
}

/** A streamed answer being read. */
export interface CallStream {
  /** Takes one event, chunk or part as the provider sends it. Returns the calls that became complete with it. */
  push(event: unknown): readonly ReadCall[];
  /** The calls still open when the stream ended, complete or not. */
  end(): readonly ReadCall[];
}

/** What one request may hold, over all its tools. */
export interface SetLimits {
  readonly maxTools?: number;
  readonly maxStrictTools?: number;
  readonly maxOptionalParameters?: number;
  /** Parameters of several types, over all strict tools. */
  readonly maxUnionParameters?: number;
  readonly maxProperties?: number;
  readonly maxDepth?: number;
  readonly maxEnumValues?: number;
  readonly maxCharacters?: number;
}

/** One change a schema went through on its way to a provider. */
export interface Loss {
  /** JSON Pointer into the tool's parameters: `/properties/when/format`. */
  readonly path: string;
  readonly keyword: string;
  /**
   * `resolved`: the same values are accepted, said otherwise. `described`: written into the description for the model to read. `widened`: more
   * values are accepted than the original takes; the original still checks them. `dropped`: gone. `refused`: why the tool cannot be strict.
   */
  readonly action: "resolved" | "described" | "widened" | "dropped" | "refused";
  /** What was done, in words. */
  readonly message: string;
}
