import type { Readable, Writable } from "node:stream";
import type { ParseArgsOptionDescriptor } from "node:util";

/** One command of the command line. Each lives in its own file under commands/ and is loaded only when it is asked for. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Names of the positional arguments, as the usage line shows them: `QUERY`, `[SHELL]`. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** Command lines worth copying, without the program's name. */
  readonly examples: readonly string[];
  /** True for one that runs until Ctrl-C: being interrupted is then its good end. */
  readonly runsUntilInterrupted?: boolean;
  /** Returns the exit code: 0 success, 1 the thing asked for failed. Wrong usage is thrown as INPUT_INVALID and becomes 2. */
  run(input: Input, terminal: Terminal): Promise<number>;
}

/** An option a command takes. */
export interface Option {
  /** `boolean` for a flag; `string` for one with a value. */
  readonly type: ParseArgsOptionDescriptor["type"];
  readonly description: string;
  /** How the value is called in the help: `FILE`, `N`. */
  readonly value?: string;
  /** True for one that may be given several times; its values are in `repeated`. */
  readonly repeatable?: boolean;
  /** Shown in the help; the command itself applies it. */
  readonly fallback?: string;
}

/** What the user typed, parsed. */
export interface Input {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  /** What repeatable options were given, in order. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  /** `--config`, `--json`: every command takes them. */
  readonly config: string | undefined;
  readonly json: boolean;
}

/** The terminal a command talks to. Data goes to `out`; everything else to `err`. */
export interface Terminal {
  readonly out: Stream;
  readonly err: Stream;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  /** The process's own where absent. */
  readonly platform?: NodeJS.Platform;
  /** What a server over standard streams reads and writes. The process's own where absent. */
  readonly protocol?: { readonly input: Readable; readonly output: Writable };
  /** Calls back when the terminal is closed or somebody sends SIGHUP. Returns what ends it. */
  readonly onHangup?: (listener: () => void) => () => void;
}

/** The part of a stream that commands use. */
export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}
