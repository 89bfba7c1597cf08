import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { When } from "./when.ts";

/** Holds where a text among the arguments, or a list of texts read as one command line, has one of the commands. */
export function blockedCommands(commands: readonly string[]): When {
  const blocked = commands.map((command) => ({ text: oneSpace(command), isWord: /\w$/.test(command) }));
  const found = (text: string): boolean => {
    const line = oneSpace(text);
    return blocked.some((command) => hasCommand(line, command));
  };
  return {
    text: `the arguments have one of ${commands.join(", ")}`,
    usesArguments: true,
    usesTime: false,
    evaluate: ({ arguments: args }) => someText(args, found),
  };
}

function oneSpace(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

/** `sudo` is in `x; sudo y` and not in `pseudonym`. */
function hasCommand(line: string, { text, isWord }: { readonly text: string; readonly isWord: boolean }): boolean {
  for (let at = line.indexOf(text); at >= 0; at = line.indexOf(text, at + 1)) {
    const before = line[at - 1] ?? "";
    const after = line[at + text.length] ?? "";
    if (!(/\w/.test(text[0] ?? "") && /\w/.test(before)) && !(isWord && /\w/.test(after))) return true;
  }
  return false;
}

function someText(value: unknown, found: (text: string) => boolean): boolean {
  if (typeof value === "string") return found(value);
  if (Array.isArray(value)) {
    const words = value.filter((member) => typeof member === "string");
    return (words.length > 1 && found(words.join(" "))) || value.some((member) => someText(member, found));
  }
  return isPlainObject(value) && Object.values(value).some((member) => someText(member, found));
}
