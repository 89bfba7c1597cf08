import type { Stream } from "../command.ts";

/** Creates a progress bar for work that takes more than a second. Displays nothing if the stream is not a terminal. */
export function createProgressBar(
  stream: Stream,
  label: string,
  total: number,
  now: () => number = performance.now.bind(performance),
) {
  const started = now();
  let shown = 0;
  return {
    update(done: number): void {
      const time = now();
      if (!stream.isTTY || time - started < 1000 || (time - shown < 100 && done < total)) return;
      shown = time;
      const share = total > 0 ? Math.min(1, done / total) : 1;
      const width = 24;
      const filled = Math.round(share * width);
      const left = share > 0 ? Math.ceil((((time - started) / share) * (1 - share)) / 1000) : 0;
      stream.write(
        `\r\u001B[K${label} [${"█".repeat(filled)}${"░".repeat(width - filled)}] ${done}/${total}  ${left} s left`,
      );
    },
    end(): void {
      if (shown > 0) stream.write("\r\u001B[K");
    },
  };
}

/** Displays a progress bar while work runs. The work reports its progress. */
export async function withProgress<Result>(
  stream: Stream,
  label: string,
  total: number,
  work: (onProgress: (done: number) => void) => Promise<Result>,
  now?: () => number,
): Promise<Result> {
  const bar = createProgressBar(stream, label, total, now);
  try {
    return await work(bar.update);
  } finally {
    bar.end();
  }
}

/** Displays a progress bar while `total` tools are embedded. `settle` waits for that, and reports the number of pending tools. */
export function withEmbeddingProgress<Result>(
  stream: Stream,
  total: number,
  settle: (options: { readonly onProgress: (pending: number) => void }) => Promise<Result>,
  now?: () => number,
): Promise<Result> {
  return withProgress(
    stream,
    "embedding",
    total,
    (update) => settle({ onProgress: (pending) => update(Math.max(0, total - pending)) }),
    now,
  );
}
