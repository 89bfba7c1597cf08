import type { Readable, Writable } from "node:stream";

/** One command. Each command has its own file in commands/, which is loaded only when the command runs. */
export interface Command {
  /** Names of the positional arguments, as in the usage line: `QUERY`, `[SHELL]`. If a command has actions, each action has its own. */
  readonly positionals?: readonly string[];
  /** The actions of a command, by the first positional argument: `list` in `approvals list`. */
  readonly actions?: Readonly<Record<string, Action>>;
  readonly options?: Readonly<Record<string, Option>>;
  /** Example command lines, without the program's name. */
  readonly examples: readonly string[];
  /** True if the command runs until Ctrl-C, which then counts as success. */
  readonly runsUntilInterrupted?: boolean;
  /** Runs the command. Returns the exit code: 1 for failure; omitted for success. Incorrect usage throws INPUT_INVALID, for which the exit code is 2. */
  run(input: Input, terminal: Terminal): Promise<ExitCode>;
}

export type ExitCode = number | void;

/** A command with its name and a one-line summary. */
export interface NamedCommand extends Command {
  readonly name: string;
  readonly summary: string;
}

export interface Action {
  readonly summary: string;
  /** Names of the positional arguments, as in `Command`. `COMMAND…` takes the rest of the line, including unknown options. */
  readonly positionals?: readonly string[];
}

export interface Option {
  readonly description: string;
  /** The name of the value in the help: `FILE`, `N`. Omitted for a flag, which has no value. */
  readonly value?: string;
  /** True if the option may be repeated. Its values are in `repeated`. */
  readonly repeatable?: boolean;
  /** The default value, shown in the help. The command itself applies it. */
  readonly fallback?: string;
}

export interface Input {
  readonly positionals: readonly string[];
  /** The values of options that take one. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
  /** The values of repeatable options, in order. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  /** The options `--config` and `--json`, which every command accepts. */
  readonly config: string | undefined;
  readonly json: boolean;
}

/** The terminal of a command. Data goes to `out`; everything else goes to `err`. */
export interface Terminal {
  readonly out: Stream;
  readonly err: Stream;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly platform?: NodeJS.Platform;
  /** The streams of a server over stdio. Defaults to those of the process. */
  readonly protocol?: { readonly input: Readable; readonly output: Writable };
  /** The keyboard input, and the output for prompts. Defaults to stdin and stderr of the process. */
  readonly keyboard?: { readonly input: Readable & { readonly isTTY?: boolean }; readonly output: Writable };
  /** Calls the listener on SIGHUP, which a closing terminal also sends. Returns a function that unsubscribes. */
  readonly onHangup?: (listener: () => void) => () => void;
}

/** The part of a stream that commands use. */
export interface Stream {
  write(text: string): unknown;
  /** Writes a terminal control sequence, which `write` would escape. Only for sequences that the program itself generates, and only on a terminal. */
  steer?(sequence: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}
