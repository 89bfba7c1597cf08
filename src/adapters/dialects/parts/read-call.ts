import { asText } from "../../../tool/json-schema.ts";
import type { CallStream, ReadCall } from "../../../transcode/dialect.port.ts";
import { type RawCall, toReadCall } from "../../../transcode/to-read-call.ts";

export { type RawCall, toReadCall };

interface OpenCall {
  id?: unknown;
  name?: unknown;
  text: string;
  whole?: unknown;
}

/** Assembles streamed calls from pieces. Generated ids are unique within the stream. */
export function createCallAssembly() {
  const calls = new Map<string, OpenCall>();
  let closed = 0;

  const close = (key: string): readonly ReadCall[] => {
    const call = calls.get(key);
    if (call === undefined) return [];
    calls.delete(key);
    const { id, name, text, whole } = call;
    return [toReadCall({ id, name, arguments: text === "" ? whole : text }, closed++)];
  };

  return {
    /** Starts the call with this key, or adds an id or name to it. */
    open(key: string, { id, name }: { readonly id?: unknown; readonly name?: unknown }) {
      const call: OpenCall = calls.get(key) ?? { text: "" };
      calls.set(key, call);
      call.id ??= asText(id);
      call.name ??= asText(name);
    },
    add(key: string, text: unknown) {
      const call = calls.get(key);
      if (call !== undefined && typeof text === "string") call.text += text;
    },
    /** Replaces the arguments by the complete ones. */
    set(key: string, whole: unknown) {
      const call = calls.get(key);
      if (call === undefined) return;
      if (typeof whole === "string") call.text = whole;
      else call.whole = whole;
    },
    has: (key: string) => calls.has(key),
    idOf: (key: string) => calls.get(key)?.id,
    close,
    /** Reads a call that arrived complete. */
    whole: (raw: RawCall) => toReadCall(raw, closed++),
    /** Completes every open call whose key has this prefix, in order. */
    closeAll: (prefix = "") => [...calls.keys()].filter((key) => key.startsWith(prefix)).flatMap(close),
  };
}

type Pieces = Pick<ReturnType<typeof createCallAssembly>, "open" | "add" | "set"> & { close(key: string): void };

/** Reads a stream whose calls arrive in pieces. The end of the stream completes open calls. */
export function createPieceStream(read: (event: unknown, calls: Pieces) => void): CallStream {
  const calls = createCallAssembly();
  const done: ReadCall[] = [];
  const pieces: Pieces = { ...calls, close: (key) => void done.push(...calls.close(key)) };
  return {
    push(event) {
      read(event, pieces);
      return done.splice(0);
    },
    end: () => calls.closeAll(),
  };
}

/** Reads a stream in which every event is a complete message. */
export function createMessageStream(callsOf: (message: unknown) => readonly RawCall[]): CallStream {
  const assembly = createCallAssembly();
  return { push: (message) => callsOf(message).map(assembly.whole), end: () => [] };
}
