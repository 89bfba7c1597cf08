import type { NamedCommand, Terminal } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { COMMON_OPTIONS } from "./run-cli.ts";
import { definitions, styles } from "./terminal/style.ts";

export function generalHelp(terminal: Terminal): string {
  const paint = styles(terminal.out, terminal.environment);
  const commands = definitions(
    Object.entries(COMMANDS).map(([name, { summary }]) => [`  ${name}`, summary]),
    terminal.out,
  );
  return `${paint.bold("toolarsenal")}: the tool layer of an agent

${paint.bold("Usage")}
  toolarsenal COMMAND [OPTIONS]

${paint.bold("Commands")}
${commands}

${paint.bold("Options")}
${definitions(
  [
    ["  --config FILE", "Configuration file (default: ./arsenal.yaml if it exists, else the demo catalog)"],
    ["  --json", "Print JSON"],
    ["  --help, --version", "Show this help, or the version"],
  ],
  terminal.out,
)}

${paint.bold("Try")}
  toolarsenal demo
  toolarsenal search "give the customer their money back" --explain
  toolarsenal COMMAND --help
  toolarsenal help ERROR_CODE
`;
}

export function commandHelp(command: NamedCommand, terminal: Terminal): string {
  const paint = styles(terminal.out, terminal.environment);
  const rows = Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(
    ([name, { value, description, fallback }]) =>
      [`  --${name}${value ? ` ${value}` : ""}`, description + (fallback ? ` (default: ${fallback})` : "")] as const,
  );
  const actions = Object.entries(command.actions ?? {});
  const words = actions.length > 0 ? ["ACTION"] : (command.positionals ?? []);
  const listed = actions.map(([action, { summary, positionals = [] }]) => {
    return [`  ${[action, ...positionals].join(" ")}`, summary] as const;
  });
  return `${command.summary}.

${paint.bold("Usage")}
  toolarsenal ${[command.name, ...words, "[OPTIONS]"].join(" ")}

${listed.length > 0 ? `${paint.bold("Actions")}\n${definitions(listed, terminal.out)}\n\n` : ""}${paint.bold("Options")}
${definitions(rows, terminal.out)}

${paint.bold("Examples")}
${command.examples.map((example) => `  toolarsenal ${example}`).join("\n")}
`;
}
