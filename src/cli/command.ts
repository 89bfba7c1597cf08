import type { Readable, Writable } from "node:stream";

/** One command of the command line. Each lives in its own file under commands/ and is loaded only when it is asked for. */
export interface Command {
  /** Names of the positional arguments, as the usage line shows them: `QUERY`, `[SHELL]`. Those of a command with actions are in its actions. */
  readonly positionals?: readonly string[];
  /** What a command can do, by the word that follows its name: `list` of `approvals list`. That word is then the first positional. */
  readonly actions?: Readonly<Record<string, Action>>;
  readonly options?: Readonly<Record<string, Option>>;
  /** Command lines worth copying, without the program's name. */
  readonly examples: readonly string[];
  /** True for a command that runs until Ctrl-C, which is then success. */
  readonly runsUntilInterrupted?: boolean;
  /** Returns the exit code: 0 for success, 1 for failure. Wrong usage throws INPUT_INVALID, which becomes 2. */
  run(input: Input, terminal: Terminal): Promise<number>;
}

/** A command with its name and one line for the list of commands. */
export interface NamedCommand extends Command {
  readonly name: string;
  readonly summary: string;
}

/** One of the things a command can do. */
export interface Action {
  readonly summary: string;
  /** As in `Command`. `COMMAND…` takes the rest of the line, with options that this program does not know. */
  readonly positionals?: readonly string[];
}

/** An option a command takes. */
export interface Option {
  readonly description: string;
  /** The name of the value in the help: `FILE`, `N`. Omitted for a flag, which takes none. */
  readonly value?: string;
  /** True if the option may be given several times. Its values are in `repeated`. */
  readonly repeatable?: boolean;
  /** The default, for the help. The command applies it. */
  readonly fallback?: string;
}

/** What the user typed, parsed. */
export interface Input {
  readonly positionals: readonly string[];
  /** The values of options that take one. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** The names of the flags that were given. */
  readonly flags: ReadonlySet<string>;
  /** The values of repeatable options, in order. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  /** `--config` and `--json`, which every command takes. */
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
  /** Defaults to the platform of the process. */
  readonly platform?: NodeJS.Platform;
  /** The streams of a server over stdio. Default to those of the process. */
  readonly protocol?: { readonly input: Readable; readonly output: Writable };
  /** Where a person types, and where the prompt is shown. Default to stdin and stderr of the process. */
  readonly keyboard?: { readonly input: Readable & { readonly isTTY?: boolean }; readonly output: Writable };
  /** Calls back on SIGHUP, which a closing terminal sends too. Returns a function that stops it. */
  readonly onHangup?: (listener: () => void) => () => void;
}

/** The part of a stream that commands use. */
export interface Stream {
  write(text: string): unknown;
  /** Writes a sequence that steers the terminal, which `write` would escape. Only for what the program itself makes up; only on a terminal. */
  steer?(sequence: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}
