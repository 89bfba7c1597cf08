import type { Readable, Writable } from "node:stream";

/** One command of the command line. Each has its own file under commands/, which is loaded only when the command runs. */
export interface Command {
  /** Names of the positional arguments, as the usage line shows them: `QUERY`, `[SHELL]`. If a command has actions, each action names its own. */
  readonly positionals?: readonly string[];
  /** The actions of a command, by the word after its name: `list` of `approvals list`. That word is then the first positional. */
  readonly actions?: Readonly<Record<string, Action>>;
  readonly options?: Readonly<Record<string, Option>>;
  /** Example command lines, without the program's name. */
  readonly examples: readonly string[];
  /** True for a command that runs until Ctrl-C, which then counts as success. */
  readonly runsUntilInterrupted?: boolean;
  /** Returns the exit code, 1 for failure, or nothing for success. Wrong usage throws INPUT_INVALID, which becomes 2. */
  run(input: Input, terminal: Terminal): Promise<ExitCode>;
}

export type ExitCode = number | void;

/** A command with its name and one line for the list of commands. */
export interface NamedCommand extends Command {
  readonly name: string;
  readonly summary: string;
}

export interface Action {
  readonly summary: string;
  /** Names of the positional arguments, as in `Command`. `COMMAND…` takes the rest of the line, including options unknown to this program. */
  readonly positionals?: readonly string[];
}

export interface Option {
  readonly description: string;
  /** The name of the value in the help: `FILE`, `N`. Omitted for a flag, which takes no value. */
  readonly value?: string;
  /** True if the option may be given several times. Its values are in `repeated`. */
  readonly repeatable?: boolean;
  /** The default, for the help. The command applies it. */
  readonly fallback?: string;
}

/** The parsed command line. */
export interface Input {
  readonly positionals: readonly string[];
  /** The values of options that take one. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
  /** The values of repeatable options, in order. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  /** `--config` and `--json`, which every command takes. */
  readonly config: string | undefined;
  readonly json: boolean;
}

/** The terminal of a command. Data goes to `out`; everything else to `err`. */
export interface Terminal {
  readonly out: Stream;
  readonly err: Stream;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly platform?: NodeJS.Platform;
  /** The streams of a server over stdio. Default to those of the process. */
  readonly protocol?: { readonly input: Readable; readonly output: Writable };
  /** The keyboard input and the output of the prompt. Default to stdin and stderr of the process. */
  readonly keyboard?: { readonly input: Readable & { readonly isTTY?: boolean }; readonly output: Writable };
  /** Calls back on SIGHUP, which a closing terminal also sends. Returns a function that unsubscribes. */
  readonly onHangup?: (listener: () => void) => () => void;
}

/** The part of a stream that commands use. */
export interface Stream {
  write(text: string): unknown;
  /** Writes a terminal control sequence, which `write` would escape. Only for sequences that the program itself generates; only on a terminal. */
  steer?(sequence: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}
