import type { InputStream } from "../../../../tool/streams.ts";
import type { ByteBudget } from "./byte-budget.ts";
import { takeTurns } from "./take-turns.ts";
import { MessageTooLong } from "../../../../mcp/wire-message.ts";

/** Reads a body to its end as text. Rejects if it breaks off or is longer than allowed. */
export function readBody(body: InputStream, server: string, maxBytes: number, budget?: ByteBudget): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
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
    body.once("end", () =>
      resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length))?.toString() ?? ""),
    );
    body.once("error", reject);
    body.once("close", () => {
      budget?.release(length);
      reject(new Error("the answer broke off"));
    });
  });
}
