/** A node of the syntax tree, as acorn returns it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** Members with inner statements, one of which can be the program's last statement. `finally` has no value. */
const INNER = ["body", "consequent", "alternate", "block", "handler", "cases"] as const;

/** Statements whose inner statements do not belong to the program itself. */
const OPAQUE: ReadonlySet<string> = new Set(["FunctionDeclaration", "ClassDeclaration", "VariableDeclaration"]);

/**
 * Wraps a program in an async function that returns the value of the last expression statement that ran. V8 returns this value only for scripts
 * without `await`. Lines keep their numbers.
 */
export function withCompletion(code: string, program: SyntaxNode): string {
  let name = "$value";
  while (code.includes(name)) name += "_";
  const expressions: SyntaxNode[] = [];
  const open: unknown[] = [program];
  while (open.length > 0) {
    const node = open.pop();
    if (Array.isArray(node)) open.push(...node);
    else if (isNode(node) && node.type === "ExpressionStatement" && node["directive"] === undefined)
      expressions.push(node);
    else if (isNode(node) && !OPAQUE.has(node.type)) for (const member of INNER) open.push(node[member]);
  }
  let text = "";
  let at = 0;
  for (const { start, end } of expressions.toSorted((one, other) => one.start - other.start)) {
    const last = code[end - 1] === ";" ? end - 1 : end;
    text += `${code.slice(at, start)}${name} = (${code.slice(start, last)})`;
    at = last;
  }
  return `(async () => {let ${name}; ${text}${code.slice(at)}\n;return ${name};})`;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { readonly type?: unknown }).type === "string";
}
