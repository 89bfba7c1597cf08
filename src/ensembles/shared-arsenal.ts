import { ToolArsenal } from "../arsenal.ts";

export interface SharedArsenal {
  current(): ToolArsenal;
  /** Called before an ensemble is connected. */
  take(): ToolArsenal;
  /** Called when an ensemble has disconnected. */
  release(): Promise<void>;
}

/** Shares the given arsenal, which stays open. If omitted, creates an arsenal that is closed with the last ensemble. */
export function shareArsenal(given?: ToolArsenal): SharedArsenal {
  let own: ToolArsenal | undefined;
  let connected = 0;
  const current = (): ToolArsenal => given ?? (own ??= new ToolArsenal());
  return {
    current,
    take() {
      connected++;
      return current();
    },
    async release() {
      connected--;
      if (connected > 0 || own === undefined) return;
      const closing = own;
      own = undefined;
      await closing.close();
    },
  };
}
