import type { JsonSchema } from "../../tool/json-schema.ts";
import { schemaOfType } from "./type-schema.ts";

/** Matches the beginning of the declaration of a program's inputs: `const input: { project: string } = { project: "web" };` */
const DECLARED = /^[ \t]*(?:const|let|var)[ \t]+input[ \t]*(?=[:=])/m;

const CLOSING: ReadonlySet<string> = new Set(["}", ")", "]", ">"]);
const OPENING: ReadonlySet<string> = new Set(["{", "(", "[", "<"]);

interface InputDeclaration {
  /** TypeScript code; undefined if the declaration has no type. */
  readonly type?: string;
  /** The index after `=`. */
  readonly valueAt: number;
}

/** Finds the declaration of a program's inputs; undefined if the program has none. */
function findDeclaration(code: string): InputDeclaration | undefined {
  const found = DECLARED.exec(code);
  if (found === null) return undefined;
  const start = found.index + found[0].length;
  if (code[start] === "=") return { valueAt: start + 1 };
  let depth = 0;
  for (let at = start + 1; at < code.length; at++) {
    const sign = code[at] as string;
    if (sign === '"' || sign === "'") at = code.indexOf(sign, at + 1);
    if (at < start) return undefined;
    if (sign === "=" && code[at + 1] === ">") at++;
    else if (sign === "=" && depth === 0) return { type: code.slice(start + 1, at).trim(), valueAt: at + 1 };
    if (OPENING.has(sign)) depth++;
    if (CLOSING.has(sign)) depth--;
  }
  return undefined;
}

/** Returns the inputs that a program declares, as a JSON Schema; undefined if it declares none. Throws if their type is missing or cannot be read. */
export function declaredInputs(code: string): JsonSchema | undefined {
  const declaration = findDeclaration(code);
  return declaration === undefined ? undefined : schemaOfType(declaration.type ?? "");
}

export function readsInput(code: string): boolean {
  return /(?<![\w$.])input(?![\w$])/.test(code);
}

/** Returns the program with the given inputs in place of the declared ones. Lines keep their numbers. */
export function withGivenInput(code: string): string {
  const declaration = findDeclaration(code);
  if (declaration === undefined) return code;
  const { valueAt } = declaration;
  return `${code.slice(0, valueAt)} globalThis.input ??${code.slice(valueAt)}`;
}
