export interface EncodeJob {
  readonly id: number;
  readonly kind: "query" | "tool";
  readonly texts: readonly string[];
  /** The texts from this index on are passages of the first text. They are encoded as part of it. */
  readonly passagesFrom?: number;
}

export type EncodeQueue = ReturnType<typeof createEncodeQueue>;

interface EncodeQueueParts {
  tokenise(text: string, kind: EncodeJob["kind"]): Int32Array;
  encode(texts: readonly Int32Array[], options?: Pick<EncodeJob, "passagesFrom">): readonly Float32Array[];
  /** Receives the vectors of a job, in the order of its texts. */
  onDone(id: number, vectors: readonly Float32Array[]): void;
  onFailed(id: number, error: unknown): void;
}

/** The tokens of a slice: about 25 ms of work. A longer text is a slice of its own. */
const SLICE_TOKENS = 128;

interface QueuedJob extends EncodeJob {
  readonly vectors: Float32Array[];
}

/** Encodes texts in slices. A request that arrives between two slices goes first. */
export function createEncodeQueue({ tokenise, encode, onDone, onFailed }: EncodeQueueParts) {
  const waiting = new Map<number, QueuedJob>();

  function next(): QueuedJob | undefined {
    let first: QueuedJob | undefined;
    for (const job of waiting.values()) {
      if (job.kind === "query") return job;
      first ??= job;
    }
    return first;
  }

  function work(job: QueuedJob): void {
    const { passagesFrom } = job;
    if (passagesFrom !== undefined) {
      const texts = job.texts.map((text) => tokenise(text, job.kind));
      job.vectors.push(...encode(texts, { passagesFrom }));
      return finish(job);
    }
    const slice: Int32Array[] = [];
    let tokens = 0;
    for (let at = job.vectors.length; at < job.texts.length; at++) {
      const ids = tokenise(job.texts[at] ?? "", job.kind);
      if (slice.length > 0 && tokens + ids.length > SLICE_TOKENS) break;
      slice.push(ids);
      tokens += ids.length;
    }
    job.vectors.push(...encode(slice));
    if (job.vectors.length === job.texts.length) finish(job);
  }

  function finish(job: QueuedJob): void {
    waiting.delete(job.id);
    onDone(job.id, job.vectors);
  }

  return {
    add: (job: EncodeJob) => void waiting.set(job.id, { ...job, vectors: [] }),
    cancel: (id: number) => void waiting.delete(id),
    /** Encodes one slice. Returns true if work remains. */
    step() {
      const job = next();
      if (job) {
        try {
          work(job);
        } catch (error) {
          waiting.delete(job.id);
          onFailed(job.id, error);
        }
      }
      return waiting.size > 0;
    },
  };
}
