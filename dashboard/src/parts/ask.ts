import { useEffect, useRef, useState } from "preact/hooks";

/** The state of a request to the gateway: pending, a value, or an error. The old value is kept while a new one is loading. */
export interface RequestState<Value> {
  readonly answer?: Value;
  readonly error?: unknown;
  readonly loading: boolean;
  again(): void;
}

/** Sends a request to the gateway. When `inputs` change, cancels it and sends it again. `delayMs` waits for a pause in typing. */
export function useAsk<Value>(
  ask: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  { delayMs = 0 } = {},
): RequestState<Value> {
  const [state, setState] = useState<Omit<RequestState<Value>, "again">>({ loading: true });
  const [round, setRound] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState(({ answer }) => ({ ...(answer !== undefined && { answer }), loading: true }));
    const timer = setTimeout(() => {
      latest.current(signal).then(
        (answer) => void (signal.aborted || setState({ answer, loading: false })),
        (error: unknown) => void (signal.aborted || setState({ error, loading: false })),
      );
    }, delayMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [...inputs, round]);
  return { ...state, again: () => setRound((count) => count + 1) };
}
