import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type ArsenalError, isArsenalError } from "../errors/arsenal-error.ts";
import { ERROR_CODES } from "../errors/codes.ts";
import { count, nearest } from "../errors/show-value.ts";
import { createRedactor } from "../guard/redaction/redactor.ts";
import type { Input, NamedCommand, Option, Terminal } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { errorHelp } from "./error-help.ts";
import { askFirstStep, canAsk } from "./first-steps.ts";
import { commandHelp, generalHelp } from "./help.ts";
import { wrongInput } from "./input.ts";
import { safeStream } from "./terminal/safe-stream.ts";
import { styles } from "./terminal/style.ts";

export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  config: { value: "FILE", description: "Configuration file", fallback: "./arsenal.yaml if it exists" },
  json: { description: "Print JSON" },
  help: { description: "Show this help" },
};

/** The usual exit code after Ctrl-C. */
const INTERRUPTED = 130;

const WRONG_USAGE: ReadonlySet<string> = new Set(["INPUT_INVALID", "CONFIG_INVALID", "QUERY_INVALID"]);

/** Runs one command line. Returns the exit code: 0 success, 1 failure, 2 wrong usage. */
export async function runCli(argv: readonly string[], given: Terminal): Promise<number> {
  // Much of the output is third-party text, and even piped output may reach a terminal.
  const terminal: Terminal = { ...given, out: safeStream(given.out), err: safeStream(given.err) };
  const [name, ...rest] = argv;
  const json = argv.includes("--json");
  try {
    if (name === undefined && canAsk(terminal)) {
      const chosen = await askFirstStep(terminal);
      if (chosen !== undefined) return await runCli(chosen, given);
    }
    if (name === undefined || name === "--help" || name === "-h" || name === "help") {
      const topic = name === "help" ? rest[0] : undefined;
      terminal.out.write(topic === undefined ? generalHelp(terminal) : await helpAbout(topic, terminal));
      return 0;
    }
    if (name === "--version" || name === "-v") {
      const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
      terminal.out.write(`${(JSON.parse(manifest) as { readonly version: string }).version}\n`);
      return 0;
    }
    const command = await loadCommand(name);
    const options = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
    if (options.includes("--help") || options.includes("-h")) {
      terminal.out.write(commandHelp(command, terminal));
      return 0;
    }
    const parsed = parseInput(command, rest);
    if (command.actions !== undefined && parsed.positionals.length === 0 && !json) {
      terminal.err.write(commandHelp(command, { ...terminal, out: terminal.err }));
      return 2;
    }
    const code = await command.run(checkPositionals(command, parsed), terminal);
    return terminal.signal.aborted && command.runsUntilInterrupted !== true ? INTERRUPTED : (code ?? 0);
  } catch (error) {
    if (terminal.signal.aborted) return INTERRUPTED;
    return report(error, json, terminal);
  }
}

/** Returns help about a command or an error code. */
async function helpAbout(topic: string, terminal: Terminal): Promise<string> {
  const about = Object.hasOwn(COMMANDS, topic) ? undefined : errorHelp(topic);
  if (about === undefined && /^[A-Z]+(_[A-Z]+)*$/.test(topic)) {
    const near = nearest(topic, Object.keys(ERROR_CODES));
    const fix = near ? `Did you mean "${near}"?` : "docs/reference/errors.md lists them.";
    throw wrongInput("ERROR_CODE", topic, `There is no error code "${topic}".`, fix);
  }
  return about ?? commandHelp(await loadCommand(topic), terminal);
}

function report(thrown: unknown, json: boolean, terminal: Terminal): number {
  // The arsenal has redacted the secrets that it knows. This redacts everything that looks like a secret.
  const error = createRedactor().error(thrown);
  const paint = styles(terminal.err, terminal.environment);
  const unwritten = fileProblem(error);
  if (unwritten !== undefined) {
    if (json) terminal.err.write(`${JSON.stringify({ error: { code: "STORE_FAILED", ...unwritten } })}\n`);
    else terminal.err.write(`${paint.red("toolarsenal failed:")} ${unwritten.message} ${unwritten.fix}\n`);
    return 1;
  }
  if (!isArsenalError(error)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    terminal.err.write(`${paint.red("toolarsenal failed:")} ${text}\n`);
    return 1;
  }
  const { code, message, details } = error;
  if (json) terminal.err.write(`${JSON.stringify({ error: { code, message, ...details } })}\n`);
  else {
    const { fix = "", issues = [] } = details;
    // Usage messages, and most others, already contain the fix.
    const more = WRONG_USAGE.has(code) || message.includes(fix) ? "" : ` ${fix}`;
    terminal.err.write(`${paint.red(code)} ${message}${more}\n`);
    for (const issue of issues.slice(1, 20))
      terminal.err.write(`  ${issue.field}: ${issue.message}. ${issue.fix ?? ""}\n`);
    if (terminal.err.isTTY === true) terminal.err.write(paint.dim(`More: toolarsenal help ${code}\n`));
  }
  return WRONG_USAGE.has(code) ? 2 : 1;
}

/** Why the operating system denied access to a file, and the fix, by error code. */
const FILE_REASONS: Readonly<Record<string, readonly [reason: string, fix: string]>> = {
  EACCES: ["permission denied", "Change its permissions, run this as its owner, or use another folder."],
  EPERM: ["permission denied", "Change its permissions, run this as its owner, or use another folder."],
  EROFS: ["the file system is read-only", "Use a folder on another file system."],
  ENOSPC: ["no space is left on the disk", "Free some, or use another disk."],
  ENOTDIR: ["a file is in the place of a folder", "Check the path."],
  EISDIR: ["it is a folder", "Name a file."],
};

/** Describes a failed file operation in one sentence with a fix; undefined for other errors. A stack trace would only hide the path. */
function fileProblem(error: unknown): { readonly message: string; readonly fix: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = "", path, syscall } = error as NodeJS.ErrnoException;
  const known = Object.hasOwn(FILE_REASONS, code) ? FILE_REASONS[code] : undefined;
  if (known === undefined || path === undefined) return undefined;
  const [reason, fix] = known;
  const verb = syscall === "mkdir" ? "make the folder" : "open";
  return { message: `Cannot ${verb} ${path}: ${reason}.`, fix };
}

async function loadCommand(name: string): Promise<NamedCommand> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry) return entry.load();
  const isOption = name.startsWith("-");
  const near = nearest(name, isOption ? ["--help", "--version"] : Object.keys(COMMANDS));
  if (isOption && near === undefined)
    throw wrongInput("command", name, `Expected a command before "${name}".`, `Write: toolarsenal COMMAND ${name}`);
  const problem = isOption ? `There is no option ${name}.` : `There is no command "${name}".`;
  throw wrongInput("command", name, problem, near ? `Did you mean "${near}"?` : "See: toolarsenal --help");
}

function parseInput(command: NamedCommand, line: readonly string[]): Input {
  const known = { ...COMMON_OPTIONS, ...command.options };
  const { argv, rest } = divideRest(command, known, line);
  const { values, positionals, tokens } = parse(argv, known);
  const see = `See: toolarsenal ${command.name} --help`;
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { rawName, value } = token;
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
    const refuse = (problem: string, fix: string): ArsenalError => wrongInput(rawName, line.join(" "), problem, fix);
    if (!option) {
      const meant = nearest(token.name, Object.keys(known));
      throw refuse(`"${command.name}" has no option ${rawName}.`, meant ? `Did you mean --${meant}?` : see);
    }
    if (option.value !== undefined && !value)
      throw refuse(`${rawName} needs a value.`, `Write ${rawName} ${option.value}.`);
    if (option.value === undefined && value !== undefined)
      throw refuse(`${rawName} is a flag and takes no value.`, `Write ${rawName} alone.`);
  }
  const given = Object.entries(values);
  const options = Object.fromEntries(given.filter(([, value]) => typeof value === "string")) as Input["options"];
  const flags = new Set(given.filter(([, value]) => value === true).map(([name]) => name));
  return {
    positionals: [...positionals, ...rest],
    options,
    flags,
    repeated: Object.fromEntries(given.filter(([, value]) => Array.isArray(value))) as Input["repeated"],
    config: options["config"],
    json: flags.has("json"),
  };
}

// oxlint-disable-next-line explicit-function-return-type -- Node's own type has no name.
function parse(argv: readonly string[], known: Readonly<Record<string, Option>>) {
  const options = Object.entries(known).map(([name, { value, repeatable: multiple = false }]) => {
    return [name, { type: value === undefined ? "boolean" : "string", multiple }] as const;
  });
  return parseArgs({
    args: [...argv],
    options: Object.fromEntries(options),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
}

/** Splits a line that contains another command, such as `import mcp npx -y server`. All words from the first word of the other command belong to it. */
function divideRest(
  { actions = {} }: NamedCommand,
  known: Readonly<Record<string, Option>>,
  argv: readonly string[],
): { readonly argv: readonly string[]; readonly rest: readonly string[] } {
  const { tokens, positionals } = parse(argv, known);
  const [action = ""] = positionals;
  const takesRest = Object.hasOwn(actions, action) && actions[action]?.positionals?.at(-1)?.endsWith("…") === true;
  const places = tokens.filter(({ kind }) => kind === "positional" || kind === "option-terminator");
  const first = places[1];
  if (!takesRest || first?.kind !== "positional") return { argv, rest: [] };
  const isForeign = tokens.some(
    (token) =>
      token.index > first.index &&
      (token.kind === "positional" || (token.kind === "option" && !Object.hasOwn(known, token.name))),
  );
  return isForeign ? { argv: argv.slice(0, first.index), rest: argv.slice(first.index) } : { argv, rest: [] };
}

function checkPositionals(command: NamedCommand, input: Input): Input {
  const { actions } = command;
  const [word = "", ...others] = input.positionals;
  const action = actions && Object.hasOwn(actions, word) ? actions[word] : undefined;
  if (actions && !action) {
    const near = nearest(word, Object.keys(actions));
    const fix = `Use ${Object.keys(actions)
      .join(", ")
      .replace(/, (\w+)$/, " or $1")}.`;
    const absent = `There is no action "${command.name} ${word}".`;
    const problem = word === "" ? `"${command.name}" needs an action.` : absent;
    throw wrongInput("ACTION", word, problem, near === undefined ? fix : `Did you mean "${near}"?`);
  }
  const name = action ? `${command.name} ${word}` : command.name;
  const { positionals: expected = [] } = action ?? command;
  const given = action ? others : input.positionals;
  const missing = expected.find((each, index) => !each.startsWith("[") && (given[index] ?? "").trim() === "");
  if (missing !== undefined) {
    const example = command.examples.find((each) => each.startsWith(name)) ?? name;
    const problem = `"${name}" needs ${missing.replace("…", "")}.`;
    throw wrongInput(missing, undefined, problem, `For example: toolarsenal ${example}`);
  }
  if (given.length > expected.length && expected.at(-1)?.endsWith("…") !== true) {
    const most = expected.length === 0 ? "no arguments" : count(expected.length, "argument");
    const problem = `"${name}" takes ${most}, not ${given.length}.`;
    throw wrongInput("arguments", given.join(" "), problem, "Put quotes around text with spaces.");
  }
  return input;
}
