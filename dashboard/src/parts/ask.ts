import { useEffect, useRef, useState } from "preact/hooks";

/** What the gateway answered: nothing yet, an answer, or why there is none. An old answer stays while a new one is on its way. */
export interface Asked<Answer> {
  readonly answer?: Answer;
  readonly error?: unknown;
  readonly loading: boolean;
  /** Asks again. */
  again(): void;
}

/** Asks the gateway, and asks again when `inputs` change, cancelling the request before. `delayMs` waits for typing to pause. */
export function useAsk<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  inputs: readonly unknown[],
  { delayMs = 0 } = {},
): Asked<Answer> {
  const [state, setState] = useState<Omit<Asked<Answer>, "again">>({ loading: true });
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
