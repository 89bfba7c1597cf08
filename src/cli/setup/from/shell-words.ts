/** A simple command of a shell script. */
export interface ShellCommand {
  /** The line of the script on which it starts, from 1. */
  readonly line: number;
  /** Assignments before the command: `NAME=value`. */
  readonly env: Readonly<Record<string, string>>;
  readonly words: readonly string[];
}

const TOKEN =
  /(?<gap>[ \t]+|\\\r?\n)|(?<comment>#[^\n]*)|(?<end>\r?\n|&&|\|\||[;&|])|(?<part>'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\;&|]+)|(?<rest>[\s\S])/g;

/** Parses the simple commands of a script: quotes, escapes, continued lines, comments and assignments. Variables become `${NAME}`. */
export function shellCommands(text: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let word: string | undefined;
  let line = 1;
  let start = 1;
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(toCommand(words, start));
    words = [];
  };
  for (const { 0: token, groups = {} } of text.matchAll(TOKEN)) {
    if (groups["part"] !== undefined || groups["rest"] !== undefined || (groups["comment"] && word !== undefined)) {
      if (words.length === 0 && word === undefined) start = line;
      word = (word ?? "") + unquoted(token);
    } else if (groups["gap"] !== undefined) endWord();
    else if (groups["end"] !== undefined) endCommand();
    line += token.split("\n").length - 1;
  }
  endCommand();
  return commands;
}

function toCommand(words: readonly string[], line: number): ShellCommand {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const assignments = first === -1 ? words : words.slice(0, first);
  const env = Object.fromEntries(
    assignments.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
  );
  return { line, env, words: first === -1 ? [] : words.slice(first) };
}

/** Returns the text of one part of a word. */
function unquoted(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (part.startsWith("\\")) return part.slice(1);
  const text = part.startsWith('"') ? part.slice(1, -1).replaceAll(/\\(["\\$`])/g, "$1") : part;
  return text.replaceAll(/\$([A-Za-z_]\w*)/g, "${$1}");
}
