import type { InputStream } from "../../../../base/streams.ts";
import { MessageTooLong } from "../../../../mcp/wire-message.ts";

/** Bytes of messages that a connection may hold before they are complete, over all that come at the same time. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** A budget of four messages of the longest kind. */
export function createByteBudget(maxMessageBytes: number) {
  const limit = 4 * maxMessageBytes;
  let held = 0;
  return {
    /** Counts bytes that are held. Returns false if they are too many; the caller must then release what it holds. */
    hold(bytes: number): boolean {
      held += bytes;
      return held <= limit;
    },
    release: (bytes: number): void => void (held -= bytes),
  };
}

/** Bytes that are read of one stream before other work gets a turn. */
const TURN_BYTES = 256 * 1024;

/** Has a stream that comes fast take turns with everything else. The function is called with the size of each piece that was read. */
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

/** Reads a body to its end as text. Rejects if it breaks off or is longer than allowed. */
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
