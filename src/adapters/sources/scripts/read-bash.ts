import { readFile } from "node:fs/promises";
import { runProcess } from "../../sandboxes/subprocess/run-process.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
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

/** Reads the tools that comments in bash files declare, in the notation of argc. The files are checked by `bash -n` and never run. */
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
  const reason = error instanceof Error ? error.message : String(error);
  return { file, reason, ...(error instanceof Undeclarable ? { line: error.line } : {}) };
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
  // As in "tools.sh: line 3: syntax error near unexpected token".
  const [line = "", ...words] = (stderr.split(": line ", 2)[1] ?? "").split(":");
  throw new Undeclarable(Number(line) || 1, words.join(":").split("\n")[0]?.trim() || "bash cannot read it");
}

/** A comment such as `# @option --query! The text`, with the plain comment lines after it. */
interface Tag {
  readonly line: number;
  readonly name: string;
  readonly text: string;
}

/** The functions that have tags above them. Tags belong to the next function that is not private. */
function declaredFunctions(
  text: string,
): ReadonlyMap<string, { readonly line: number; readonly tags: readonly Tag[] }> {
  const found = new Map<string, { readonly line: number; readonly tags: readonly Tag[] }>();
  let tags: Tag[] = [];
  let continues = false;
  for (const [index, written] of text.split("\n").entries()) {
    const line = index + 1;
    const comment = written.startsWith("#") ? written.slice(1).trim() : undefined;
    if (comment === undefined) {
      continues = false;
      const name = definedName(written);
      if (name === undefined || name.startsWith("_") || tags.length === 0) continue;
      found.set(name, { line, tags });
      tags = [];
    } else if (comment.startsWith("@")) {
      const [name = "", ...words] = comment.slice(1).split(" ");
      tags.push({ line, name, text: words.join(" ").trim() });
      continues = true;
    } else if (continues && comment !== "") {
      const last = tags.pop();
      if (last !== undefined) tags.push({ ...last, text: `${last.text} ${comment}` });
    }
  }
  return found;
}

/** The name in `name() {` or `function name {` at the start of a line. */
function definedName(line: string): string | undefined {
  return /^(?:function\s+([\w:.-]+)|([\w:.-]+)\s*\(\s*\))/
    .exec(line)
    ?.slice(1)
    .find((name) => name !== undefined);
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

const NOTATIONS: Readonly<Record<string, JsonSchema>> = {
  INT: { type: "integer" },
  NUM: { type: "number" },
  BOOL: { type: "boolean" },
};

/**
 * Reads `-q --query! <TEXT> What to look for`: short and long name, `!` required, `*` any number, `+` one or more, `[a|b]` choices, `[=a|b]`
 * choices with the first as default, `=value` a default, `<INT>` a type, and the description.
 */
function readParameter(kind: string, text: string, line: number): Field {
  const reader = createReader(text);
  let name = reader.word();
  // A short name may come before the long one.
  while (/^-[^-]?$/.test(name) && reader.space() && reader.next() === "-") name = reader.word();
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
    throw new Undeclarable(line, `${name}: values from a command are not known here`);
  reader.space();
  const notation = reader.next() === "<" ? reader.enclosed("<", ">") : undefined;

  const type = NOTATIONS[notation?.toUpperCase() ?? ""] ?? untyped(notation, choices, written);
  const one = choices === undefined ? type : toEnum(choices.map((choice) => read(choice, type)));
  const isList = mark === "*" || mark === "+";
  const fallback = written === undefined ? undefined : read(written, type);
  return {
    name,
    schema: isList ? { type: "array", items: one } : one,
    required: mark === "!" || mark === "+",
    ...(fallback === undefined ? {} : { default: isList ? [fallback] : fallback }),
    description: reader.rest(),
  };

  function read(value: string, schema: JsonSchema): unknown {
    const literal = readLiteral(value, schema);
    if (literal === undefined)
      throw new Undeclarable(line, `${name}: ${value} is not of type ${String(schema["type"])}`);
    return literal;
  }
}

/** Without a notation the default tells the type; choices are texts. */
function untyped(notation: string | undefined, choices: unknown, written: string | undefined): JsonSchema {
  return notation === undefined && choices === undefined && written !== undefined
    ? literalSchema(written)
    : { type: "string" };
}

/** Reads a line from left to right. */
function createReader(text: string) {
  let at = 0;
  const until = (isEnd: (character: string) => boolean): string => {
    const start = at;
    while (at < text.length && !isEnd(text[at] ?? "")) at++;
    return text.slice(start, at);
  };
  return {
    next: () => text[at],
    take(character: string): string | undefined {
      if (text[at] !== character) return undefined;
      at++;
      return character;
    },
    space(): boolean {
      until((character) => character !== " " && character !== "\t");
      return true;
    },
    word: () => until((character) => !/[\w-]/.test(character)),
    enclosed(open: string, close: string): string {
      at += open.length;
      const inside = until((character) => character === close);
      at += close.length;
      return inside;
    },
    /** Up to the next space, unless it is quoted. */
    value(): string {
      const quote = text[at] === '"' || text[at] === "'" || text[at] === "`" ? text[at] : undefined;
      if (quote === undefined) return until((character) => character === " ");
      const start = at++;
      until((character) => character === quote);
      return text.slice(start, ++at);
    },
    rest: () => text.slice(at).trim(),
  };
}
