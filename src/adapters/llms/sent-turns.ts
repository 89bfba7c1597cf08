import type { AgentMessage, AssistantMessage, ToolMessage } from "../../agent/llm.port.ts";
import { formatResult } from "../../execute/results/format-result.ts";
import type { AnsweredCall, Dialect, ReadCall } from "../../transcode/dialect.port.ts";

/** One turn of a conversation, ready to be written in a provider's format. */
export type SentTurn =
  | { readonly kind: "user"; readonly text: string }
  /** A turn of this provider, to be sent back as it came. */
  | { readonly kind: "native"; readonly content: unknown }
  /** A turn of another provider, or one whose calls are not part of the request. */
  | { readonly kind: "assistant"; readonly text: string; readonly calls: readonly SentCall[] }
  /** The results of the calls of the turn before. */
  | { readonly kind: "results"; readonly results: readonly AnsweredCall[] };

/** A call that another provider's model made. */
export interface SentCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** How the calls of a turn are named in the request, by their ids in the conversation. */
type Written = ReadonlyMap<string, ReadCall>;

/**
 * The turns of a conversation for one provider. Every provider refuses a call without a result and a result without a call, so a call that nobody
 * answered is left out, and a result whose call is not in the request becomes text.
 */
export function toTurns(messages: readonly AgentMessage[], provider: string, dialect: Dialect<object>): SentTurn[] {
  let written: Written = new Map();
  return messages.flatMap((message, at): SentTurn[] => {
    switch (message.role) {
      case "user":
        return [{ kind: "user", text: message.text }];
      case "assistant": {
        const next = messages[at + 1];
        const [turn, calls] = toAssistant(message, next?.role === "tool" ? next : undefined, { at, provider, dialect });
        written = calls;
        return turn;
      }
      case "tool":
        return toResults(message, written);
    }
  });
}

function toAssistant(
  message: AssistantMessage,
  results: ToolMessage | undefined,
  { at, provider, dialect }: { readonly at: number; readonly provider: string; readonly dialect: Dialect<object> },
): readonly [SentTurn[], Written] {
  const { text, native } = message;
  if (native?.provider === provider) {
    const calls = dialect.readCalls(native.content);
    const isAnswered = calls.every(({ id }) => results?.results.some(({ read }) => read.id === id));
    if (isAnswered)
      return [[{ kind: "native", content: native.content }], new Map(calls.map((call) => [call.id, call]))];
    return [text === "" ? [] : [{ kind: "assistant", text, calls: [] }], new Map()];
  }
  // Calls that were read from text, which have made-up ids, are in the text.
  const inText = results?.format === "text" && message.calls.every(({ idMadeUp }) => idMadeUp === true);
  const calls = inText ? [] : message.calls.filter(({ id }) => results?.results.some(({ read }) => read.id === id));
  const renamed = calls.map((call, place): readonly [string, ReadCall] => [
    call.id,
    rename(call, `call_${at}_${place}`),
  ]);
  const sent = renamed.map(([, { id, call }]) => ({ id, name: call.toolName, arguments: call.arguments ?? {} }));
  const turns: SentTurn[] = text === "" && sent.length === 0 ? [] : [{ kind: "assistant", text, calls: sent }];
  return [turns, new Map(renamed)];
}

/** Ids and names as every provider takes them. Made-up ids repeat from turn to turn. */
function rename({ id, idMadeUp, call, ...rest }: ReadCall, fresh: string): ReadCall {
  const toolName = call.toolName.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
  const isFit = idMadeUp !== true && /^[a-zA-Z0-9_-]{1,40}$/.test(id);
  return { ...rest, id: isFit ? id : fresh, call: { ...call, toolName } };
}

function toResults({ results, format }: ToolMessage, written: Written): SentTurn[] {
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
