/** Waits for shared work. The signal aborts this wait, not the work. */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return work;
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits for a time. Rejects when the signal fires. A background wait does not keep the process alive. */
export async function pause(
  ms: number,
  clock: { after(ms: number, run: () => void, options: { readonly background: boolean }): () => void },
  { signal, background = false }: { readonly signal?: AbortSignal | undefined; readonly background?: boolean } = {},
): Promise<void> {
  signal?.throwIfAborted();
  if (ms <= 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve, { background });
  await untilAborted(promise, signal).finally(cancel);
}
