import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../errors/show-value.ts";
import { createEncodeQueue, type EncodeJob } from "./encode-queue.ts";
import type { FromWorker, ToWorker } from "./worker-host.ts";
import { createEncoder } from "./kernel/encoder.ts";
import { readShipped, SHIPPED_FILES, TOKEN_LIMITS } from "./shipped-files.ts";
import { createWordPiece } from "./wordpiece/wordpiece.ts";

/** The worker thread of the tuned model. It receives the address of the weight file, and then jobs. */
if (parentPort) serve(parentPort, String((workerData as { readonly weights: unknown }).weights));

function serve(port: NonNullable<typeof parentPort>, weights: string): void {
  const wordPiece = createWordPiece(readShipped(SHIPPED_FILES.vocabulary).toString("utf8"));
  const encoder = createEncoder({ weights: readFileSync(new URL(weights)) });
  const post = (message: FromWorker, moved: ArrayBuffer[] = []): void => port.postMessage(message, moved);
  const queue = createEncodeQueue({
    tokenise: (text, kind) => wordPiece.encode(text, { maxTokens: TOKEN_LIMITS[kind] }),
    encode: encoder.encode,
    onDone(id, vectors) {
      const all = new Float32Array(vectors.length * encoder.dimension);
      vectors.forEach((vector, index) => all.set(vector, index * encoder.dimension));
      post({ id, vectors: all }, [all.buffer]);
    },
    onFailed: (id, error) => post({ id, error: messageOf(error) }),
  });
  let working = false;
  // Messages are read between slices.
  const turn = (): void => {
    working = queue.step();
    if (working) setImmediate(turn);
  };
  port.on("message", (message: ToWorker) => {
    if ("cancel" in message) queue.cancel(message.cancel);
    else queue.add(message satisfies EncodeJob);
    if (working) return;
    working = true;
    setImmediate(turn);
  });
  post({ loaded: encoder.model });
}
