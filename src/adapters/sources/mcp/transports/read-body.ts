import type { InputStream } from "../../../../base/streams.ts";
import { MessageTooLong } from "../../../../mcp/wire-message.ts";

/** Limits the bytes of incomplete messages that a connection buffers, over all its streams. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** Creates a budget of four messages of the maximum length. */
export function createByteBudget(maxMessageBytes: number) {
  const limit = 4 * maxMessageBytes;
  let held = 0;
  return {
    /** Counts buffered bytes. Returns false if they exceed the budget; the caller must then release its buffer. */
    hold(bytes: number): boolean {
      held += bytes;
      return held <= limit;
    },
    release: (bytes: number): void => void (held -= bytes),
  };
}

/** Bytes to read of one stream before other work gets a turn. */
const TURN_BYTES = 256 * 1024;

/** Makes a fast stream yield to other work. Returns a function to call with the size of each chunk. */
export function takeTurns(stream: Pick<InputStream, "pause" | "resume">): (bytes: number) => void {
  let taken = 0;
  return (bytes) => {
    taken += bytes;
    if (taken < TURN_BYTES) return;
    taken = 0;
    stream.pause();
    setImmediate(() => stream.resume());
  };
}

/** Reads a body as text. Rejects if the body breaks off or is too long. */
export function readBody(body: InputStream, server: string, maxBytes: number, budget?: ByteBudget): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let isComplete = false;
    const turn = takeTurns(body);
    body.on("data", (chunk: Buffer) => {
      length += chunk.length;
      const isHeld = budget?.hold(chunk.length) ?? true;
      if (length > maxBytes || !isHeld) body.destroy(new MessageTooLong(server, maxBytes));
      else {
        chunks.push(chunk);
        turn(chunk.length);
      }
    });
    body.once("end", () => {
      isComplete = true;
      resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length))?.toString() ?? "");
    });
    body.once("error", reject);
    body.once("close", () => {
      budget?.release(length);
      if (!isComplete) reject(new Error("the answer broke off"));
    });
  });
}
