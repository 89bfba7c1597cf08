import type { Tool } from "../tool/tool.ts";
import type { AnsweredCall, ReadCall } from "../transcode/dialect.port.ts";

/** A language model that can call tools, behind one provider's API. */
export interface Llm {
  /** Provider and model, for display: `anthropic/claude-sonnet-4-5`. */
  readonly name: string;
  /**
   * Sends the conversation and the tools, in the provider's own format, and resolves with the model's next turn. Retries transient failures until the
   * first piece of text was delivered. Rejects with an ArsenalError that contains neither the key nor the request, or with the reason of the signal.
   * If a streamed answer breaks off, `details.value` of the error is the text that arrived.
   *
   * A call without a result is left out of the request, because every provider refuses it.
   */
  next(request: LlmRequest): Promise<LlmTurn>;
  /** Closes the connections, unless the caller supplied them. */
  close(): void;
}

/** One request to a model. */
export interface LlmRequest {
  readonly system?: string;
  /** Oldest first. */
  readonly messages: readonly AgentMessage[];
  /** The only tools the model may call in this turn. */
  readonly tools: readonly Tool[];
  /** The most tokens the answer may have. Defaults to the adapter's setting. */
  readonly maxTokens?: number;
  /** If set, the answer is streamed, and this gets each piece of its text as it arrives. */
  readonly onText?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** One turn of a model. */
export interface LlmTurn {
  readonly message: AssistantMessage;
  /** `answer`: the model finished its answer. `calls`: it waits for the results of its calls. `length`: it was cut off. `refused`: the provider blocked it. */
  readonly stop: "answer" | "calls" | "length" | "refused";
  readonly usage: TokenUsage;
}

/** Tokens as the provider counted them; 0 if the provider reports none. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** One message of a conversation. Plain JSON data, so that a conversation can be saved and continued elsewhere. */
export type AgentMessage = UserMessage | AssistantMessage | ToolMessage;

/** A message of the user. */
export interface UserMessage {
  readonly role: "user";
  readonly text: string;
}

/** A turn of the model: its text and its calls. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly text: string;
  readonly calls: readonly ReadCall[];
  /**
   * The turn as the provider sent it, including fields that only the provider reads, such as signatures and reasoning items. Its own adapter sends it
   * back unchanged; another provider's adapter writes `text` and `calls` instead.
   */
  readonly native?: { readonly provider: string; readonly content: unknown };
}

/** The outcomes of the previous message's calls. */
export interface ToolMessage {
  readonly role: "tool";
  readonly results: readonly AnsweredCall[];
  /**
   * `native`: in the provider's own format for results. `text`: as the text of `formatResult`, in place of the result of a call that the provider
   * made, and in a user message if the call was read from text (it then has `idMadeUp`).
   */
  readonly format: "native" | "text";
}
