import { calibrateCosine, TUNED_MODEL } from "../../retrieve/fuse/calibrate.ts";
import type { Embedder, EmbedOptions } from "../../catalog/embedder.port.ts";
import { setNewest } from "../../base/remember.ts";
import { succeeds } from "../../base/turns/succeeds.ts";
import { startWorker } from "../../system/start-worker.ts";
import { readHeader } from "./kernel/weights.ts";
import { readStart, SHIPPED_FILES } from "./shipped-files.ts";
import { closedEmbedder, createWorkerHost, type WorkerHost } from "./worker-host.ts";

/** Options of the tuned embedder. */
export interface TunedEmbedderOptions {
  /** A custom weight file. Defaults to the shipped one. */
  readonly weights?: URL;
}

/** Workers by weight file. All embedders of a process share one worker. It ends when the last embedder closes. */
const shared = new Map<string, { readonly host: WorkerHost; users: number }>();

/** Longer than the header of any weight file. */
const HEADER_BYTES = 64 * 1024;

/** The number of cached request vectors. A request is often searched more than once. */
const REMEMBERED = 128;

/** The better shipped embedder: a small transformer, fine-tuned on tools and requests. It runs in a worker thread that the whole process shares. */
export function tunedEmbedder({ weights = SHIPPED_FILES.tuned }: TunedEmbedderOptions = {}): Embedder {
  // The start of the file identifies the model, so the weights need not be read.
  const { model, architecture } = readHeader(readStart(weights, HEADER_BYTES));
  const { hidden: dimension } = architecture;
  const remembered = new Map<string, Float32Array>();
  let host: WorkerHost | undefined;
  let closed = false;

  function worker(): WorkerHost {
    if (closed) throw closedEmbedder();
    return (host ??= acquire(weights.href));
  }

  async function embed(texts: readonly string[], given: EmbedOptions): Promise<Float32Array[]> {
    if (texts.length === 0) return [];
    const { kind, passagesFrom, ...options } = given;
    const all = await worker().encode({ kind, texts, ...(passagesFrom !== undefined && { passagesFrom }) }, options);
    return texts.map((_, index) => all.subarray(index * dimension, (index + 1) * dimension));
  }

  return {
    model,
    dimension,
    get ready() {
      return host?.ready ?? false;
    },
    async embed(texts, options) {
      const { kind, signal } = options;
      signal?.throwIfAborted();
      const [only = ""] = texts;
      const known = kind === "query" && texts.length === 1 ? remembered.get(only) : undefined;
      if (known) return [known];
      const vectors = await embed(texts, options);
      const [vector] = vectors;
      if (kind === "query" && texts.length === 1 && vector) setNewest(remembered, only, vector, REMEMBERED);
      return vectors;
    },
    calibrate: calibrateCosine(TUNED_MODEL.worthShowing),
    share: TUNED_MODEL.share,
    healthCheck: (options) => succeeds(() => worker().load(options?.background)),
    async close() {
      closed = true;
      const used = host;
      host = undefined;
      if (used) await release(weights.href);
    },
  };
}

function acquire(weights: string): WorkerHost {
  let entry = shared.get(weights);
  if (!entry) {
    const options = { workerData: { weights }, name: "toolarsenal-encoder" };
    const host = createWorkerHost(() => startWorker("encoder-worker", import.meta.url, options));
    shared.set(weights, (entry = { host, users: 0 }));
  }
  entry.users++;
  return entry.host;
}

async function release(weights: string): Promise<void> {
  const entry = shared.get(weights);
  if (!entry || --entry.users > 0) return;
  shared.delete(weights);
  await entry.host.stop();
}
