import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import { nearest } from "../errors/show-value.ts";
import { createRedactor } from "../guard/redaction/redactor.ts";
import type { Command, Input, Option, Terminal } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { commandHelp, generalHelp } from "./help.ts";
import { safeStream } from "./safe-stream.ts";
import { styles } from "./style.ts";

/** Options that every command takes. */
export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  config: {
    type: "string",
    value: "FILE",
    description: "Configuration file",
    fallback: "./arsenal.yaml where present",
  },
  json: { type: "boolean", description: "Print JSON" },
  help: { type: "boolean", description: "Show this help" },
};

/** What shells report for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/** Errors in what the user wrote, as against things that went wrong. */
const WRONG_USAGE: ReadonlySet<string> = new Set(["INPUT_INVALID", "CONFIG_INVALID", "QUERY_INVALID"]);

/** Runs one command line. Returns the exit code: 0 success, 1 the thing asked for failed, 2 wrong usage. */
export async function runCli(argv: readonly string[], given: Terminal): Promise<number> {
  // Much of what is shown was written by others. A pipe gets data as it is.
  const out = given.out.isTTY === true ? safeStream(given.out) : given.out;
  const terminal: Terminal = { ...given, out, err: safeStream(given.err) };
  const [name, ...rest] = argv;
  const json = argv.includes("--json");
  try {
    if (name === undefined || name === "--help" || name === "-h" || name === "help") {
      const topic = name === "help" ? rest[0] : undefined;
      terminal.out.write(topic === undefined ? generalHelp(terminal) : commandHelp(await loadCommand(topic), terminal));
      return 0;
    }
    if (name === "--version" || name === "-v") {
      terminal.out.write(`${packageVersion()}\n`);
      return 0;
    }
    const command = await loadCommand(name);
    const options = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
    if (options.includes("--help") || options.includes("-h")) {
      terminal.out.write(commandHelp(command, terminal));
      return 0;
    }
    const code = await command.run(parseInput(command, rest), terminal);
    return terminal.signal.aborted && command.runsUntilInterrupted !== true ? INTERRUPTED : code;
  } catch (error) {
    if (terminal.signal.aborted) return INTERRUPTED;
    return report(error, json, terminal);
  }
}

function report(thrown: unknown, json: boolean, terminal: Terminal): number {
  // What an arsenal knows to be secret it took out itself; this is what looks like it.
  const error = createRedactor().error(thrown);
  const paint = styles(terminal.err, terminal.environment);
  if (!isArsenalError(error)) {
    terminal.err.write(
      `${paint.red("toolarsenal failed:")} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 1;
  }
  if (json)
    terminal.err.write(
      `${JSON.stringify({ error: { code: error.code, message: error.message, ...error.details } })}\n`,
    );
  else {
    const { fix = "", issues = [] } = error.details;
    // Those about usage say what to do, and so do most others.
    const more = WRONG_USAGE.has(error.code) || error.message.includes(fix) ? "" : ` ${fix}`;
    terminal.err.write(`${paint.red(error.code)} ${error.message}${more}\n`);
    for (const issue of issues.slice(1, 20))
      terminal.err.write(`  ${issue.field}: ${issue.message}. ${issue.fix ?? ""}\n`);
  }
  return WRONG_USAGE.has(error.code) ? 2 : 1;
}

async function loadCommand(name: string): Promise<Command> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry) return entry.load();
  if (name.startsWith("-")) {
    const fix = `Write the command first: toolarsenal COMMAND ${name}`;
    throw new ArsenalError("INPUT_INVALID", `${name} stands where a command should. ${fix}`, {
      field: "command",
      value: name,
      fix,
    });
  }
  const meant = nearest(name, Object.keys(COMMANDS));
  throw new ArsenalError(
    "INPUT_INVALID",
    `There is no command "${name}". ${meant ? `Did you mean "${meant}"?` : "See: toolarsenal --help"}`,
    {
      field: "command",
      value: name,
      fix: meant ? `toolarsenal ${meant}` : "toolarsenal --help",
    },
  );
}

function parseInput(command: Command, argv: readonly string[]): Input {
  const known = { ...COMMON_OPTIONS, ...command.options };
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(known).map(([name, { type, repeatable = false }]) => [name, { type, multiple: repeatable }]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const refuse = (field: string, problem: string, fix: string): never => {
    throw new ArsenalError("INPUT_INVALID", `${problem} ${fix}`, { field, value: argv.join(" "), fix });
  };
  const see = `See: toolarsenal ${command.name} --help`;
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
    if (!option) {
      const meant = nearest(token.name, Object.keys(known));
      refuse(
        token.rawName,
        `"${command.name}" has no option ${token.rawName}.`,
        meant ? `Did you mean --${meant}?` : see,
      );
    } else if (option.type === "string" && (token.value === undefined || token.value === "")) {
      refuse(token.rawName, `${token.rawName} needs a value.`, `Write ${token.rawName} ${option.value ?? "VALUE"}.`);
    } else if (option.type === "boolean" && token.value !== undefined) {
      refuse(token.rawName, `${token.rawName} is a flag and takes no value.`, `Write ${token.rawName} alone.`);
    }
  }
  const needed = command.positionals.filter((positional) => !positional.startsWith("["));
  const missing = needed.find((_, index) => (positionals[index] ?? "").trim() === "");
  if (missing !== undefined) {
    refuse(
      missing,
      `"${command.name}" needs ${missing}.`,
      `For example: toolarsenal ${command.examples[0] ?? command.name}`,
    );
  }
  if (positionals.length > command.positionals.length) {
    refuse(
      "arguments",
      `"${command.name}" takes ${command.positionals.length} argument(s), not ${positionals.length}.`,
      "Put quotes around text with spaces.",
    );
  }
  const { config, json, ...given } = values;
  const isRepeated = ([name]: readonly [string, unknown]): boolean => known[name]?.repeatable === true;
  const entries = Object.entries(given);
  return {
    positionals,
    options: Object.fromEntries(entries.filter((entry) => !isRepeated(entry))) as Input["options"],
    repeated: Object.fromEntries(entries.filter(isRepeated)) as Input["repeated"],
    config: config as string | undefined,
    json: json === true,
  };
}

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  return manifest.version;
}
