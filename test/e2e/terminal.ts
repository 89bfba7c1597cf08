import { runCli } from "../../src/cli/run-cli.ts";

/** What a command line printed, and how it ended. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Where a command line runs. An empty environment, no terminal and the folder of the package where absent. */
export interface Place {
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly isTTY?: boolean;
  /** Defaults to 100. */
  readonly columns?: number;
  readonly signal?: AbortSignal;
}

/** Runs a command line in this process, with its streams in memory. */
export async function runInMemory(argv: readonly string[], place: Place = {}): Promise<Ran> {
  const { folder = ".", environment = {}, isTTY = false, columns = 100, signal = new AbortController().signal } = place;
  const text = { out: "", err: "" };
  const code = await runCli(argv, {
    out: { write: (part) => (text.out += part), isTTY, columns },
    err: { write: (part) => (text.err += part), isTTY },
    folder,
    environment,
    signal,
  });
  return { code, ...text };
}
