import { messageText } from "../../retrieve/understand/message-text.ts";
import type { Message } from "../../retrieve/query.ts";
import { isPlainObject } from "../../tool/json-schema.ts";

/** A query takes this many messages. */
const MOST_MESSAGES = 10;
/** Of a longer text the end is read: the latest is said last. */
const READ_LENGTH = 20_000;
/** Who speaks, as transcripts have it: `user: …`. */
const SPEAKER = /^(user|human|assistant|ai|model|system|tool):\s*/i;

/**
 * Reads the recent messages of a conversation, oldest first, as a model gives them: a transcript, a list of texts, or a list of messages. A
 * line of a transcript that names no speaker belongs to the one before it. Undefined for anything else.
 */
export function readMessages(given: unknown): readonly Message[] | undefined {
  if (given === undefined || given === null) return [];
  if (typeof given === "string") return toTurns(given.slice(-READ_LENGTH).split("\n")).slice(-MOST_MESSAGES);
  if (!Array.isArray(given)) return undefined;
  const messages = given.slice(-MOST_MESSAGES).map(toMessage);
  return messages.includes(undefined) ? undefined : messages.filter((message) => message !== undefined);
}

function toTurns(lines: readonly string[]): readonly Message[] {
  const turns: Message[] = [];
  let isTranscript = false;
  for (const line of lines) {
    if (line.trim() === "") continue;
    const before = turns.at(-1);
    const begins = SPEAKER.test(line);
    if (isTranscript && !begins && before !== undefined)
      turns[turns.length - 1] = { ...before, content: `${String(before.content)}\n${line}` };
    else turns.push(fromText(line));
    isTranscript ||= begins;
  }
  return turns;
}

function fromText(text: string): Message {
  const [spoken, speaker = "user"] = SPEAKER.exec(text) ?? [""];
  return { role: speaker.toLowerCase(), content: text.slice(spoken.length, READ_LENGTH) };
}

function toMessage(given: unknown): Message | undefined {
  if (typeof given === "string") return fromText(given);
  if (!isPlainObject(given)) return undefined;
  const { role, content } = given;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const text = messageText({ role: "", content }).slice(0, READ_LENGTH);
  return { role: typeof role === "string" ? role : "user", content: text };
}
