import type { Command, NamedCommand } from "../command.ts";
import { COMMANDS } from "../commands.ts";
import { COMMON_OPTIONS } from "../run-cli.ts";

export const command: Command = {
  actions: {
    bash: { summary: "For bash" },
    zsh: { summary: "For zsh" },
    fish: { summary: "For fish" },
  },
  examples: [
    "completion bash >> ~/.bashrc",
    "completion zsh > ~/.zfunc/_toolarsenal",
    "completion fish > ~/.config/fish/completions/toolarsenal.fish",
  ],
  async run(input, terminal) {
    const [shell = ""] = input.positionals;
    const commands = await Promise.all(Object.values(COMMANDS).map(({ load }) => load()));
    const text = SCRIPTS[shell]?.(commands) ?? "";
    terminal.out.write(input.json ? `${JSON.stringify({ shell, script: text })}\n` : text);
  },
};

const SCRIPTS: Readonly<Record<string, (commands: readonly NamedCommand[]) => string>> = { bash, zsh, fish };

function groups(
  commands: readonly NamedCommand[],
): readonly { readonly name: string; readonly actions: readonly string[] }[] {
  return commands.flatMap(({ name, actions }) => (actions ? [{ name, actions: Object.keys(actions) }] : []));
}

function optionsOf(each: NamedCommand): string[] {
  return Object.keys({ ...each.options, ...COMMON_OPTIONS }).map((name) => `--${name}`);
}

function bash(commands: readonly NamedCommand[]): string {
  return `_toolarsenal() {
  local current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current"))
    return
  fi
  local actions=""
  if [ "$COMP_CWORD" -eq 2 ]; then
    case "\${COMP_WORDS[1]}" in
${groups(commands)
  .map(({ name, actions }) => `      ${name}) actions="${actions.join(" ")}" ;;`)
  .join("\n")}
    esac
  fi
  if [ -n "$actions" ] && [ "\${current#-}" = "$current" ]; then
    COMPREPLY=($(compgen -W "$actions" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map((each) => `    ${each.name}) COMPREPLY=($(compgen -W "${optionsOf(each).join(" ")}" -- "$current")) ;;`).join("\n")}
  esac
}
complete -o default -F _toolarsenal toolarsenal
`;
}

function zsh(commands: readonly NamedCommand[]): string {
  return `#compdef toolarsenal
_toolarsenal() {
  if (( CURRENT == 2 )); then
    local -a commands=(${commands.map(({ name, summary }) => `'${name}:${summary.replaceAll(/[':]/g, "")}'`).join(" ")})
    _describe command commands
    return
  fi
  if (( CURRENT == 3 )) && [[ "$words[3]" != -* ]]; then
    case "$words[2]" in
${groups(commands)
  .map(({ name, actions }) => `      ${name}) compadd -- ${actions.join(" ")}; return ;;`)
  .join("\n")}
    esac
  fi
  case "$words[2]" in
${commands.map((each) => `    ${each.name}) compadd -- ${optionsOf(each).join(" ")}; _files ;;`).join("\n")}
  esac
}
if [ "$funcstack[1]" = "_toolarsenal" ]; then
  _toolarsenal "$@"
else
  compdef _toolarsenal toolarsenal
fi
`;
}

function fish(commands: readonly NamedCommand[]): string {
  const lines = commands.flatMap((each) => [
    `complete -c toolarsenal -n __fish_use_subcommand -a ${each.name} -d '${each.summary.replaceAll("'", "")}'`,
    ...Object.entries(each.actions ?? {}).map(
      ([action, { summary }]) =>
        `complete -c toolarsenal -n '__fish_seen_subcommand_from ${each.name}; and test (count (commandline -opc)) -eq 2' -f -a ${action} -d '${summary.replaceAll("'", "")}'`,
    ),
    ...Object.entries({ ...each.options, ...COMMON_OPTIONS }).map(
      ([name, { description, value }]) =>
        `complete -c toolarsenal -n '__fish_seen_subcommand_from ${each.name}' -l ${name}${value === undefined ? "" : " -r"} -d '${description.replaceAll("'", "")}'`,
    ),
  ]);
  return `${lines.join("\n")}\n`;
}
