import { isPlainObject } from "../../../tool/json-schema.ts";
import { compileExpression, type Expression, type Variables } from "./expression.ts";

/** A value of a workflow file with compiled expressions. */
export type Template =
  | { readonly kind: "literal"; readonly value: unknown }
  | { readonly kind: "expression"; readonly expression: Expression }
  /** Text that contains expressions. */
  | { readonly kind: "text"; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: "list"; readonly items: readonly Template[] }
  | { readonly kind: "object"; readonly members: Readonly<Record<string, Template>> };

type Path = readonly string[];

/** Reports a problem of a value at its path in the file. */
export type ReportProblem = (path: Path, message: string, value: unknown, fix: string) => void;

/** Compiles a value. Reports expressions that do not compile, and replaces them by null. */
export function compileTemplate(value: unknown, path: Path, report: ReportProblem): Template {
  if (typeof value === "string") return compileText(value, path, report);
  if (Array.isArray(value))
    return {
      kind: "list",
      items: value.map((item, index) => compileTemplate(item, [...path, String(index)], report)),
    };
  if (!isPlainObject(value)) return { kind: "literal", value };
  const members = Object.entries(value).map(
    ([key, member]) => [key, compileTemplate(member, [...path, key], report)] as const,
  );
  return { kind: "object", members: Object.fromEntries(members) };
}

/** Compiles the expression of an `if` or `forEach`. The `${{ … }}` around it is optional. */
export function compileCondition(text: string, path: Path, report: ReportProblem): Expression | undefined {
  const [, inner = text] = /^\s*\$\{\{([\s\S]*)\}\}\s*$/.exec(text) ?? [];
  const compiled = compileExpression(inner.trim());
  if (!("problem" in compiled)) return compiled;
  report(path, `does not compile${compiled.problem}`, text, "Fix the expression. It is written in CEL.");
  return undefined;
}

function compileText(text: string, path: Path, report: ReportProblem): Template {
  const parts: (string | Expression)[] = [];
  let from = 0;
  for (let start = text.indexOf("${{"); start >= 0; start = text.indexOf("${{", from)) {
    const end = endOf(text, start + 3);
    if (end < 0) {
      report(path, "has ${{ without }}", text, "Close the expression with }}.");
      return { kind: "literal", value: null };
    }
    if (start > from) parts.push(text.slice(from, start));
    const expression = compileCondition(text.slice(start + 3, end), path, report);
    if (expression === undefined) return { kind: "literal", value: null };
    parts.push(expression);
    from = end + 2;
  }
  if (parts.length === 0) return { kind: "literal", value: text };
  if (from < text.length) parts.push(text.slice(from));
  const [only] = parts;
  if (parts.length === 1 && typeof only === "object") return { kind: "expression", expression: only };
  return { kind: "text", parts };
}

/** Finds the `}}` that ends an expression. Skips braces of maps and in strings. */
function endOf(text: string, from: number): number {
  let depth = 0;
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? "";
    if (quote !== "") {
      if (character === "\\") at++;
      else if (character === quote) quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === "{") depth++;
    else if (character === "}" && depth > 0) depth--;
    else if (character === "}" && text[at + 1] === "}") return at;
  }
  return -1;
}

/** Returns the value of a template. Throws if an expression cannot be computed. */
export function fillTemplate(template: Template, variables: Variables): unknown {
  switch (template.kind) {
    case "literal":
      return template.value;
    case "expression":
      return evaluate(template.expression, variables);
    case "text":
      return template.parts
        .map((part) => (typeof part === "string" ? part : toText(evaluate(part, variables))))
        .join("");
    case "list":
      return template.items.map((item) => fillTemplate(item, variables));
    case "object":
      return Object.fromEntries(
        Object.entries(template.members).map(([key, member]) => [key, fillTemplate(member, variables)]),
      );
  }
}

/** Evaluates an expression. The error names the expression. */
export function evaluate(expression: Expression, variables: Variables): unknown {
  try {
    return expression.evaluate(variables);
  } catch (error) {
    throw new Error(`\${{ ${expression.text} }} cannot be computed: ${(error as Error).message}`, { cause: error });
  }
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
