import { COMMANDS } from "../src/cli/commands.ts";
import { COMMON_OPTIONS } from "../src/cli/run-cli.ts";
import type { NamedCommand, Option } from "../src/cli/command.ts";

/** The manual page, `man toolarsenal`, written from the commands' own help. */
export async function manPage(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
  return `${[
    '.\\" Written by npm run derive from src/cli/commands.',
    ".TH TOOLARSENAL 1",
    ".SH NAME",
    "toolarsenal \\- the tool layer of an agent",
    ".SH SYNOPSIS",
    ".B toolarsenal",
    "COMMAND [OPTIONS]",
    ".SH DESCRIPTION",
    "Registers every tool once, gives the model the few that matter, runs the chosen one under policy, and shows why.",
    "Data goes to standard output, everything else to standard error.",
    "Without arguments in a terminal, it offers three first steps.",
    ".SH OPTIONS OF EVERY COMMAND",
    ...optionLines(COMMON_OPTIONS),
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH EXIT STATUS",
    ...item("0", "Success."),
    ...item("1", "The command failed."),
    ...item("2", "Wrong usage."),
    ".SH FILES",
    ...item("./arsenal.yaml", "The default configuration file. --config selects another file."),
    ".SH SEE ALSO",
    "toolarsenal COMMAND --help, toolarsenal help ERROR_CODE, and the pages in the package's docs folder.",
  ].join("\n")}\n`;
}

function commandLines({
  name,
  summary,
  positionals = [],
  actions = {},
  options = {},
  examples,
}: NamedCommand): string[] {
  const words = Object.keys(actions).length > 0 ? ["ACTION"] : positionals;
  return [
    `.SS ${escaped([name, ...words, "[OPTIONS]"].join(" "))}`,
    escaped(`${summary}.`),
    ...Object.entries(actions).flatMap(([action, given]) =>
      item([action, ...(given.positionals ?? [])].join(" "), `${given.summary}.`),
    ),
    ...optionLines(options),
    ...(examples.length > 0
      ? [".PP", "Examples:", ".nf", ...examples.map((one) => escaped(`toolarsenal ${one}`)), ".fi"]
      : []),
  ];
}

function optionLines(options: Readonly<Record<string, Option>>): string[] {
  return Object.entries(options).flatMap(([name, { value, description, fallback }]) =>
    item(`--${name}${value ? ` ${value}` : ""}`, `${description}${fallback ? ` (default: ${fallback})` : ""}.`),
  );
}

function item(term: string, text: string): string[] {
  return [".TP", `.B ${escaped(term)}`, escaped(text)];
}

/** A backslash, a dash and a dot or quote at the start of a line mean something to roff. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/, "\\&");
}
