import { createInterface } from "node:readline";
import type { Terminal } from "../../command.ts";

export type Keyboard = ReturnType<typeof openKeyboard>;

/** Reads lines with editing and history, until `terminal.signal` fires. */
export function openKeyboard({ keyboard, err, signal }: Terminal) {
  const { input, output } = keyboard ?? { input: process.stdin, output: process.stderr };
  const lines = createInterface({ input, output, terminal: true, history: [] });
  let interrupt: (() => void) | undefined;
  let answer: ((line: string | undefined) => void) | undefined;
  let ended = false;
  let warned = false;

  const settle = (line: string | undefined): void => {
    const given = answer;
    answer = undefined;
    given?.(line);
  };
  lines.on("close", () => {
    ended = true;
    settle(undefined);
  });
  lines.on("line", (line) => {
    warned = false;
    settle(line);
  });
  lines.on("SIGINT", () => {
    if (interrupt !== undefined) return interrupt();
    if (warned) return lines.close();
    warned = true;
    err.write("\nPress Ctrl-C again to quit.\n");
    if (answer !== undefined) lines.prompt();
  });
  const close = (): void => lines.close();
  signal.addEventListener("abort", close);

  return {
    /** Reads one line. Returns undefined after the user ended the input (Ctrl-D) or pressed Ctrl-C twice. The question must be trusted text. */
    ask(question: string): Promise<string | undefined> {
      if (ended) return Promise.resolve(undefined);
      lines.setPrompt(question);
      lines.prompt();
      return new Promise((resolve) => (answer = resolve));
    },
    /** Lets Ctrl-C call `listener` instead of ending the input, until the returned function is called. */
    onInterrupt(listener: () => void): () => void {
      interrupt = listener;
      return () => (interrupt = undefined);
    },
    close(): void {
      signal.removeEventListener("abort", close);
      lines.close();
    },
  };
}
