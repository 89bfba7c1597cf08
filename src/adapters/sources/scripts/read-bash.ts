import { readFile } from "node:fs/promises";
import { messageOf } from "../../../errors/show-value.ts";
import { runProcess } from "../../sandboxes/subprocess/run-process.ts";
import {
  chosenEntries,
  type Declaration,
  type Field,
  literalSchema,
  oneLine,
  readLiteral,
  type ReadScripts,
  type ScriptProblem,
  toEnum,
  Undeclarable,
} from "./declaration.ts";

/** Reads the tools that comments in bash files declare, in the notation of argc. The files are checked with `bash -n` and never run. */
export async function readBash(files: readonly string[], bash: string, signal: AbortSignal): Promise<ReadScripts> {
  const declarations: Declaration[] = [];
  const problems: ScriptProblem[] = [];
  for (const file of files) {
    try {
      await checkSyntax(file, bash, signal);
      const found = declaredFunctions(await readFile(file, "utf8"));
      const chosen = chosenEntries([...found.keys()], "main");
      for (const entry of chosen) {
        const { line, tags } = found.get(entry) ?? { line: 1, tags: [] };
        try {
          declarations.push({ file, language: "bash", line, entry, ...readTags(tags) });
        } catch (error) {
          problems.push(toProblem(file, error));
        }
      }
      if (found.size === 0) problems.push({ file, reason: "No function has a comment such as # @describe above it." });
    } catch (error) {
      problems.push(toProblem(file, error));
    }
  }
  return { declarations, problems };
}

function toProblem(file: string, error: unknown): ScriptProblem {
  return { file, reason: messageOf(error), ...(error instanceof Undeclarable && { line: error.line }) };
}

async function checkSyntax(file: string, bash: string, signal: AbortSignal): Promise<void> {
  const { stderr, status } = await runProcess({
    sandbox: "subprocess",
    argv: [bash, "--norc", "-n", file],
    env: { LANG: "C.UTF-8" },
    cwd: "/",
    input: "",
    limits: { timeoutMs: 10_000, outputBytes: 65_536 },
    signal,
  });
  if (status === "ok") return;
  // The format is "tools.sh: line 3: syntax error near unexpected token".
  const [line = "", ...words] = (stderr.split(": line ", 2)[1] ?? "").split(":");
  throw new Undeclarable(Number(line) || 1, words.join(":").split("\n")[0]?.trim() || "bash cannot read it");
}

/** A comment such as `# @option --query! The text`, including the plain comment lines after it. */
interface Tag {
  readonly line: number;
  readonly name: string;
  text: string;
}

/** Returns the functions with tags above them. Tags belong to the next public function. */
function declaredFunctions(text: string) {
  const found = new Map<string, { readonly line: number; readonly tags: readonly Tag[] }>();
  let tags: Tag[] = [];
  let last: Tag | undefined;
  for (const [index, written] of text.split("\n").entries()) {
    const line = index + 1;
    const comment = written.startsWith("#") ? written.slice(1).trim() : undefined;
    if (comment === undefined) {
      last = undefined;
      const name = definedName(written);
      if (name === undefined || name.startsWith("_") || tags.length === 0) continue;
      found.set(name, { line, tags });
      tags = [];
    } else if (comment.startsWith("@")) {
      const [name = "", ...words] = comment.slice(1).split(" ");
      last = { line, name, text: words.join(" ").trim() };
      tags.push(last);
    } else if (last !== undefined && comment !== "") last.text += ` ${comment}`;
  }
  return found;
}

/** Returns the name in `name() {` or `function name {` at the start of a line. */
function definedName(line: string): string | undefined {
  const [, keyword, plain] = /^(?:function\s+([\w:.-]+)|([\w:.-]+)\s*\(\s*\))/.exec(line) ?? [];
  return keyword ?? plain;
}

function readTags(tags: readonly Tag[]): Pick<Declaration, "description" | "fields"> {
  const fields: Field[] = [];
  let description = "";
  for (const { name, text, line } of tags) {
    if ((name === "describe" || name === "cmd") && text !== "") description = oneLine(text);
    if (name === "option" || name === "arg" || name === "flag") fields.push(readParameter(name, text, line));
  }
  return { description, fields };
}

const NOTATIONS: Readonly<Record<string, string>> = { INT: "integer", NUM: "number", BOOL: "boolean" };

/**
 * Parses `-q --query! <TEXT> The text to search for`: a short and a long name, then modifiers, then the description. Modifiers: `!` required, `*` any
 * number, `+` one or more, `[a|b]` choices, `[=a|b]` choices with the first as default, `=value` a default, `<INT>` a type.
 */
function readParameter(kind: string, text: string, line: number): Field {
  const reader = createReader(text);
  let name = reader.word();
  // A short name may precede the long one.
  while (/^-[^-]?$/.test(name)) {
    reader.space();
    if (reader.next() !== "-") break;
    name = reader.word();
  }
  name = name.replace(/^-+/, "").replaceAll("-", "_");
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Undeclarable(line, `@${kind} ${text}: the name is missing or invalid`);
  if (kind === "flag") {
    reader.take("*");
    return { name, schema: { type: "boolean" }, required: false, default: false, description: reader.rest() };
  }
  const mark = reader.take("!") || reader.take("*") || reader.take("+");
  reader.take(",");
  let values = reader.next() === "[" ? reader.enclosed("[", "]") : undefined;
  const firstIsDefault = values?.startsWith("=") === true;
  if (firstIsDefault) values = values?.slice(1);
  const choices = values?.split("|");
  const written = reader.take("=") ? reader.value() : firstIsDefault ? choices?.[0] : undefined;
  if ((written ?? values)?.startsWith("`"))
    throw new Undeclarable(line, `${name}: values from a command are not supported`);
  reader.space();
  const notation = reader.next() === "<" ? reader.enclosed("<", ">") : undefined;

  // If there is no type, the default determines it. Choices are strings.
  const isUntyped = notation === undefined && choices === undefined && written !== undefined;
  const type = isUntyped ? literalSchema(written) : { type: NOTATIONS[notation?.toUpperCase() ?? ""] ?? "string" };
  const one = choices === undefined ? type : toEnum(choices.map(read));
  const isList = mark === "*" || mark === "+";
  const fallback = written === undefined ? undefined : read(written);
  return {
    name,
    schema: isList ? { type: "array", items: one } : one,
    required: mark === "!" || mark === "+",
    ...(fallback !== undefined && { default: isList ? [fallback] : fallback }),
    description: reader.rest(),
  };

  function read(value: string): unknown {
    const literal = readLiteral(value, type);
    if (literal === undefined) throw new Undeclarable(line, `${name}: ${value} is not of type ${String(type.type)}`);
    return literal;
  }
}

/** Reads a line from left to right. */
function createReader(text: string) {
  let at = 0;
  /** Returns the pattern's match at the current position, and moves past it. */
  const read = (pattern: RegExp): string => {
    const [found = ""] = pattern.exec(text.slice(at)) ?? [];
    at += found.length;
    return found;
  };
  return {
    next: () => text[at],
    take: (character: string) => (text[at] === character ? text[at++] : undefined),
    space: () => read(/^[ \t]*/),
    word: () => read(/^[\w-]*/),
    /** Returns the text between two marks, or to the end if the second mark is missing. */
    enclosed(open: string, close: string): string {
      const start = (at += open.length);
      const end = text.indexOf(close, start);
      at = end === -1 ? text.length : end + close.length;
      return text.slice(start, end === -1 ? text.length : end);
    },
    /** Returns the text up to the next space, or a quoted text. */
    value: () => read(/^(?:(["'`]).*?(?:\1|$)|[^ ]*)/),
    rest: () => text.slice(at).trim(),
  };
}
