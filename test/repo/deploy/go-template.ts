import { createHash } from "node:crypto";
import { stringify } from "yaml";

/*
 * The part of Go's templates, and of what Helm adds to them, that the chart uses: if, with, range, define, include, pipelines and the functions below.
 * Anything else throws. What it makes of the chart was compared once with Go's own text/template and sprig.
 */

type Value = unknown;
type Scope = { readonly dot: Value; readonly root: Value };
type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly expression: string }
  | { readonly kind: "block"; readonly word: "if" | "with" | "range"; readonly branches: readonly Branch[] };
interface Branch {
  /** Undefined for `else`. */
  readonly expression: string | undefined;
  readonly body: readonly Node[];
}

/** Templates by file name. Definitions in any of them are known to all. */
export function renderChart(templates: Readonly<Record<string, string>>, data: object): Record<string, string> {
  const defined = new Map<string, readonly Node[]>();
  const bodies = Object.entries(templates).map(([name, text]) => [name, parse(text, defined)] as const);
  const render = (nodes: readonly Node[], scope: Scope): string => nodes.map((node) => one(node, scope)).join("");

  function one(node: Node, scope: Scope): string {
    if (node.kind === "text") return node.text;
    if (node.kind === "action") return show(evaluate(node.expression, scope));
    for (const { expression, body } of node.branches) {
      if (expression === undefined) return render(body, scope);
      const value = evaluate(expression, scope);
      if (!isTrue(value)) continue;
      if (node.word === "if") return render(body, scope);
      if (node.word === "with") return render(body, { ...scope, dot: value });
      return (value as readonly Value[]).map((dot) => render(body, { ...scope, dot })).join("");
    }
    return "";
  }

  function evaluate(expression: string, scope: Scope): Value {
    const tokens = expression.match(/"(?:[^"\\]|\\.)*"|\(|\)|\||[^\s()|"]+/g) ?? [];
    let at = 0;
    function pipeline(): Value {
      let value: { readonly piped: Value } | undefined;
      do {
        value = { piped: command(value === undefined ? [] : [value.piped]) };
      } while (tokens[at] === "|" && ++at > 0);
      return value.piped;
    }
    function command(piped: readonly Value[]): Value {
      const head = tokens[at] ?? "";
      if (head === "(" || head.startsWith(".") || head.startsWith("$") || head.startsWith('"') || /^\d/.test(head))
        return operand();
      at++;
      const given: Value[] = [];
      while (at < tokens.length && tokens[at] !== "|" && tokens[at] !== ")") given.push(operand());
      return call(head, [...given, ...piped], scope);
    }
    function operand(): Value {
      const token = tokens[at++] ?? "";
      if (token === "(") {
        const value = pipeline();
        at++;
        return value;
      }
      if (token.startsWith('"')) return JSON.parse(token);
      if (/^\d+$/.test(token)) return Number(token);
      if (token === ".") return scope.dot;
      const [first = "", ...path] = token.split(".");
      if (first !== "" && first !== "$") throw new Error(`${token} is not known to the renderer`);
      return path.reduce<Value>(
        (value, key) => (value as Record<string, Value> | undefined)?.[key],
        first === "$" ? scope.root : scope.dot,
      );
    }
    const value = pipeline();
    if (at !== tokens.length) throw new Error(`The renderer cannot read ${expression}`);
    return value;
  }

  function call(name: string, given: readonly Value[], scope: Scope): Value {
    if (name === "include") {
      const body = defined.get(String(given[0]));
      if (body === undefined) throw new Error(`No template is called ${String(given[0])}`);
      return render(body, { dot: given[1], root: scope.root });
    }
    const known = FUNCTIONS[name];
    if (known === undefined) throw new Error(`${name} is not known to the renderer`);
    return known(...given);
  }

  return Object.fromEntries(
    bodies
      .filter(([name]) => !name.startsWith("_"))
      .map(([name, body]) => [name, render(body, { dot: data, root: data })]),
  );
}

const FUNCTIONS: Readonly<Record<string, (...given: readonly Value[]) => Value>> = {
  not: (value) => !isTrue(value),
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  contains: (part, text) => String(text).includes(String(part)),
  trunc: (length, text) => String(text).slice(0, Number(length)),
  trimSuffix: (end, text) => (String(text).endsWith(String(end)) ? String(text).slice(0, -String(end).length) : text),
  printf: (format, ...values) => {
    const left = [...values];
    return String(format).replaceAll("%s", () => show(left.shift()));
  },
  quote: (value) => JSON.stringify(show(value)),
  omit: (of, ...keys) => Object.fromEntries(Object.entries(of as object).filter(([key]) => !keys.includes(key))),
  toYaml: (value) => stringify(value, { sortMapEntries: true, lineWidth: 0 }).trimEnd(),
  nindent: (width, text) => `\n${indent(Number(width), String(text))}`,
  sha256sum: (text) => createHash("sha256").update(String(text)).digest("hex"),
};

function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== "";
}

function show(value: Value): string {
  if (typeof value === "object" && value !== null) throw new Error("A template writes out a whole object: use toYaml");
  return value === undefined || value === null ? "" : String(value as string);
}

function indent(width: number, text: string): string {
  return text.replaceAll(/^/gm, " ".repeat(width));
}

/** Reads a template. What it defines goes into `defined`. */
function parse(text: string, defined: Map<string, readonly Node[]>): readonly Node[] {
  // A dash at either end of an action takes away the blanks and line breaks beside it.
  const trimmed = text.replaceAll(/\s*\{\{-\s/g, "{{ ").replaceAll(/\s-\}\}\s*/g, " }}");
  const parts = trimmed.split(/\{\{\s*(.*?)\s*\}\}/s);
  let at = 0;

  function body(): { readonly nodes: readonly Node[]; readonly end: string } {
    const nodes: Node[] = [];
    for (; at < parts.length;) {
      const index = at++;
      const part = parts[index] ?? "";
      if (index % 2 === 0) {
        if (part !== "") nodes.push({ kind: "text", text: part });
        continue;
      }
      const [word = "", rest = ""] = [/^\S+/.exec(part)?.[0] ?? "", part.replace(/^\S+\s*/, "")];
      if (word === "end" || word === "else") return { nodes, end: part };
      if (word === "define") defined.set(String(JSON.parse(rest)), body().nodes);
      else if (word === "if" || word === "with" || word === "range") nodes.push(block(word, rest));
      else nodes.push({ kind: "action", expression: part });
    }
    return { nodes, end: "" };
  }

  function block(word: "if" | "with" | "range", expression: string): Node {
    const branches: Branch[] = [];
    for (let asked: string | undefined = expression; ;) {
      const { nodes, end } = body();
      branches.push({ expression: asked, body: nodes });
      if (end === "end") return { kind: "block", word, branches };
      if (!end.startsWith("else")) throw new Error(`A template leaves ${word} ${expression} open`);
      asked = /^else\s+if\s+(.*)$/s.exec(end)?.[1];
    }
  }

  const { nodes, end } = body();
  if (end !== "") throw new Error(`A template has ${end} too many`);
  return nodes;
}
