import { Artifact, Message, Part, Task } from "@a2a-js/sdk";
import { textPart } from "../events.ts";

/** Maximum stored size of one message of the caller, in bytes of JSON. */
const MOST_REQUEST_BYTES = 8 * 1024;
const MOST_STATUS_BYTES = 32 * 1024;
const MOST_HISTORY_BYTES = 64 * 1024;
const MOST_MESSAGES = 100;
const MOST_ARTIFACT_BYTES = 256 * 1024;
const MOST_METADATA_BYTES = 16 * 1024;
/** Maximum stored size of one task: its status, history, artifacts, metadata and ids. */
export const MOST_TASK_BYTES = 384 * 1024;

/** The metadata key of a part that replaces omitted parts. Its value is the number of omitted bytes of JSON. */
const LEFT_OUT = "urn:toolarsenal:a2a:bytes-left-out";
/** Bytes reserved for the part that replaces omitted parts. */
const NOTE_BYTES = 512;

/**
 * Returns the stored form of a message: its first parts, then a part with the number of omitted bytes. Returns the same object if the whole message
 * is stored.
 */
export function cutMessage(message: Message, most: number = MOST_REQUEST_BYTES): Message {
  let envelope = { ...message, parts: [] };
  let taken = sizeOf(Message.toJSON(envelope));
  const isTooLarge = taken > most / 2;
  if (isTooLarge) {
    envelope = { ...envelope, metadata: undefined, extensions: [], referenceTaskIds: [] };
    taken = sizeOf(Message.toJSON(envelope));
  }
  const parts = cutParts(message.parts, most - taken);
  return parts === message.parts && !isTooLarge ? message : { ...envelope, parts };
}

/** Returns the number of bytes that were omitted when a message was stored. */
export function bytesLeftOut({ parts }: Pick<Message, "parts">): number {
  return parts.reduce((total, part) => total + leftOutBy(part), 0);
}

/** Returns the stored form of a task, as JSON, and its size. */
export function cutTask(task: Task): { readonly json: unknown; readonly bytes: number } {
  const { status, history, artifacts, metadata } = task;
  const cut: Task = {
    ...task,
    status: status && { ...status, message: status.message && cutMessage(status.message, MOST_STATUS_BYTES) },
    history: cutHistory(history),
    artifacts: cutArtifacts(artifacts),
    metadata: metadata && sizeOf(metadata) > MOST_METADATA_BYTES ? undefined : metadata,
  };
  const json = Task.toJSON(cut);
  return { json, bytes: sizeOf(json) };
}

/** Returns the newest messages that fit. */
function cutHistory(history: readonly Message[]): Message[] {
  const kept: Message[] = [];
  let room = MOST_HISTORY_BYTES;
  for (const message of history.slice(-MOST_MESSAGES).toReversed()) {
    const cut = cutMessage(message);
    room -= sizeOf(Message.toJSON(cut)) + 1;
    if (room < 0) break;
    kept.push(cut);
  }
  return kept.toReversed();
}

/** Returns the first artifacts that fit, and the beginning of the next one. */
function cutArtifacts(artifacts: readonly Artifact[]): Artifact[] {
  const kept: Artifact[] = [];
  let room = MOST_ARTIFACT_BYTES;
  for (const artifact of artifacts) {
    const envelope = sizeOf(Artifact.toJSON({ ...artifact, parts: [] })) + 1;
    if (room < envelope + 2 * NOTE_BYTES) break;
    const parts = cutParts(artifact.parts, room - envelope);
    kept.push({ ...artifact, parts });
    room -= envelope + parts.reduce((total, part) => total + partSize(part), 0);
  }
  return kept;
}

/**
 * Returns the first parts that fit into `most` bytes, and a note about the omitted ones. Cutting again adds to the note. Returns the same array if
 * all parts fit.
 */
function cutParts(parts: Part[], most: number): Part[] {
  const sizes = parts.map(partSize);
  if (sizes.reduce((total, size) => total + size, 0) <= most) return parts;
  const kept: Part[] = [];
  let room = most - NOTE_BYTES;
  let leftOut = 0;
  for (const [place, part] of parts.entries()) {
    const size = sizes[place] ?? 0;
    const before = leftOutBy(part);
    if (before > 0) leftOut += before;
    else if (leftOut === 0 && size <= room) {
      kept.push(part);
      room -= size;
    } else {
      const beginning = leftOut === 0 ? beginningOf(part, room) : undefined;
      if (beginning !== undefined) kept.push(beginning);
      leftOut += size - (beginning === undefined ? 0 : partSize(beginning));
    }
  }
  return leftOut === 0 ? kept : [...kept, noteOf(leftOut)];
}

/** Returns the beginning of a text, in at most `most` bytes. Undefined for other parts, and if there is no room for a useful beginning. */
function beginningOf(part: Part, most: number): Part | undefined {
  const { content } = part;
  if (content?.$case !== "text") return undefined;
  for (let length = most; length >= NOTE_BYTES / 2; length = Math.floor(length * 0.75)) {
    const beginning: Part = {
      ...part,
      content: { $case: "text", value: content.value.slice(0, length).toWellFormed() },
    };
    if (partSize(beginning) <= most) return beginning;
  }
  return undefined;
}

function noteOf(leftOut: number): Part {
  return { ...textPart(`${leftOut} bytes were left out when this was stored.`), metadata: { [LEFT_OUT]: leftOut } };
}

function leftOutBy({ metadata }: Part): number {
  const value: unknown = metadata?.[LEFT_OUT];
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}

/** Returns the bytes that a part takes in a list. A text that is longer than any task is not serialized for this. */
function partSize(part: Part): number {
  const { content } = part;
  if (content?.$case === "text" && content.value.length > MOST_TASK_BYTES) return Buffer.byteLength(content.value);
  return sizeOf(Part.toJSON(part)) + 1;
}

function sizeOf(json: unknown): number {
  return Buffer.byteLength(JSON.stringify(json));
}
