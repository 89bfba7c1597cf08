import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "../command.ts";

/** Prompts the person at the keyboard. */
export interface Questions {
  /** Reads one line; undefined after the input has ended. With `hidden`, the typed text is not displayed. */
  ask(question: string, options?: { readonly hidden?: boolean }): Promise<string | undefined>;
  /** Asks a yes-or-no question. Every answer except yes means no. */
  confirm(question: string): Promise<boolean>;
  close(): void;
}

/** Opens the keyboard. Returns undefined if there is none, as in a script. */
export function openQuestions({ keyboard, err, signal }: Terminal): Questions | undefined {
  const { input, output } = keyboard ?? { input: process.stdin, output: process.stderr };
  if (input.isTTY !== true) return undefined;
  let isHidden = false;
  const echo = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (isHidden) return done();
      output.write(chunk, done);
    },
  });
  const lines = createInterface({ input, output: echo, terminal: true, history: [] });
  const waiting: ((line: string | undefined) => void)[] = [];
  let isClosed = false;
  lines.on("line", (line) => waiting.shift()?.(line));
  lines.on("close", () => {
    isClosed = true;
    for (const resolve of waiting.splice(0)) resolve(undefined);
  });
  const close = (): void => lines.close();
  signal.addEventListener("abort", close);

  async function ask(question: string, { hidden = false } = {}): Promise<string | undefined> {
    if (isClosed) return undefined;
    err.write(question);
    isHidden = hidden;
    const answer = await new Promise<string | undefined>((resolve) => waiting.push(resolve));
    isHidden = false;
    if (hidden) err.write("\n");
    return answer;
  }

  return {
    ask,
    confirm: async (question) => /^y(?:es)?$/i.test((await ask(`${question} [y/N] `))?.trim() ?? ""),
    close() {
      signal.removeEventListener("abort", close);
      lines.close();
    },
  };
}
