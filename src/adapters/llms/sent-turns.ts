import type { AgentMessage, AssistantMessage, ToolMessage } from "../../agent/llm.port.ts";
import { formatResult } from "../../execute/results/format-result.ts";
import type { AnsweredCall, Dialect, ReadCall } from "../../transcode/dialect.port.ts";

/** A turn of a conversation, ready to be written in a provider's format. */
export type SentTurn =
  | { readonly kind: "user"; readonly text: string }
  /** A turn of this provider, sent back unchanged. */
  | { readonly kind: "native"; readonly content: unknown }
  /** A turn of another provider, or a turn whose calls are not part of the request. */
  | { readonly kind: "assistant"; readonly text: string; readonly calls: readonly SentCall[] }
  | { readonly kind: "results"; readonly results: readonly AnsweredCall[] };

export interface SentCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The calls of a turn in the request, by their ids in the conversation. */
type RenamedCalls = ReadonlyMap<string, ReadCall>;

/**
 * Converts a conversation to turns for one provider. Every provider refuses calls without results and results without calls. An unanswered call is
 * therefore omitted, and a result whose call is not in the request becomes text.
 */
export function toTurns(messages: readonly AgentMessage[], provider: string, dialect: Dialect<object>): SentTurn[] {
  const ownCalls = (message: AgentMessage): readonly ReadCall[] =>
    message.role === "assistant" && message.native?.provider === provider
      ? dialect.readCalls(message.native.content)
      : [];
  /** Ids in the request. Turns of this provider keep their ids. */
  const taken = new Set(messages.flatMap(ownCalls).map(({ id }) => id));
  let written: RenamedCalls = new Map();

  function toAssistant(message: AssistantMessage, at: number): SentTurn[] {
    const next = messages[at + 1];
    const results = next?.role === "tool" ? next : undefined;
    const isAnswered = ({ id }: ReadCall): boolean => results?.results.some(({ read }) => read.id === id) === true;
    const { text, native } = message;
    const own = ownCalls(message);
    if (native?.provider === provider && own.every(isAnswered)) {
      written = new Map(own.map((call) => [call.id, call]));
      return [{ kind: "native", content: native.content }];
    }
    const calls = native?.provider === provider || isInText(message, results) ? [] : message.calls.filter(isAnswered);
    const renamed = calls.map((call, place) => [call.id, rename(call, `carried_${at}_${place}`, taken)] as const);
    written = new Map(renamed);
    const sent = renamed.map(([, { id, call }]) => ({ id, name: call.toolName, arguments: call.arguments ?? {} }));
    return text === "" && sent.length === 0 ? [] : [{ kind: "assistant", text, calls: sent }];
  }

  return messages.flatMap((message, at): SentTurn[] => {
    switch (message.role) {
      case "user":
        return [{ kind: "user", text: message.text }];
      case "assistant":
        return toAssistant(message, at);
      case "tool":
        return toResults(message, written);
    }
  });
}

/** True if the calls were read from the text. Such calls have generated ids and are answered as text. */
function isInText({ calls }: AssistantMessage, results: ToolMessage | undefined): boolean {
  return results?.format === "text" && calls.every(({ idMadeUp }) => idMadeUp === true);
}

/** Returns the call with an id and a name that every provider accepts. Generated ids repeat in each turn, and ids of several servers may collide. */
function rename({ id, idMadeUp, call, ...rest }: ReadCall, fresh: string, taken: Set<string>): ReadCall {
  const toolName = call.toolName.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
  const isFit = idMadeUp !== true && !taken.has(id) && /^[a-zA-Z0-9_-]{1,40}$/.test(id);
  const newId = isFit ? id : fresh;
  taken.add(newId);
  return { ...rest, id: newId, call: { ...call, toolName } };
}

function toResults({ results, format }: ToolMessage, written: RenamedCalls): SentTurn[] {
  const native: AnsweredCall[] = [];
  const texts: string[] = [];
  for (const { read, result } of results) {
    const call = written.get(read.id);
    if (call === undefined) texts.push(formatResult(result, read.call));
    else if (format === "native" || result.status !== "success") native.push({ read: call, result });
    else native.push({ read: call, result: { ...result, result: formatResult(result, read.call) } });
  }
  return [
    ...(native.length === 0 ? [] : [{ kind: "results", results: native } as const]),
    ...(texts.length === 0 ? [] : [{ kind: "user", text: texts.join("\n\n") } as const]),
  ];
}
