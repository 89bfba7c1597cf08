import module from "node:module";

export interface CompiledProgram {
  readonly code: string;
  /** `script`: the value is the value of the last statement. `function`: the value is returned. */
  readonly form: "script" | "function";
}

export interface SyntaxProblem {
  readonly message: string;
  readonly line?: number;
}

/** A call with type arguments is also valid JavaScript, but with another meaning. */
const MAY_HAVE_TYPE_ARGUMENTS = /[\w$]\s*<[^<>=()]*(?:<[^<>]*>[^<>=()]*)*>\s*\(/;
const IMPORTS = /^[ \t]*(?:import\b(?!\s*[.(])|export\b)/m;

/**
 * Turns a program into JavaScript: removes types, and finds the expression that gives its value. Lines keep their numbers. `parses` returns the
 * syntax error of JavaScript code, if there is one.
 */
export function compileProgram(
  given: string,
  parses: (code: string, form: CompiledProgram["form"]) => SyntaxProblem | undefined,
): CompiledProgram | SyntaxProblem {
  const code = withLastObject(withoutFence(given), parses);
  const imports = IMPORTS.exec(code);
  if (imports !== null) {
    const line = code.slice(0, imports.index).split("\n").length;
    return { message: "Programs have no modules: remove import and export. Call the tools by name.", line };
  }
  const script = parses(code, "script");
  if (script === undefined && !MAY_HAVE_TYPE_ARGUMENTS.test(code)) return { code, form: "script" };
  if (script === undefined || !isReturn(script.message)) {
    const stripped = strip(code);
    if ("code" in stripped && parses(stripped.code, "script") === undefined)
      return { code: stripped.code, form: "script" };
    if (!("code" in stripped) && !isReturn(stripped.message))
      return "line" in stripped || script === undefined ? stripped : script;
  }
  const inner = strip(`async () => {${code}\n}`);
  const problem = "code" in inner ? undefined : inner;
  const body = "code" in inner ? inner.code.slice("async () => {".length, -2) : code;
  const wrapped = returning(body, parses);
  const wrong = parses(wrapped, "function");
  if (wrong === undefined) return { code: wrapped, form: "function" };
  return problem ?? wrong;
}

/** Matches a program in a Markdown code block, as models write it. */
const FENCE = /^\s*```[\w-]*[ \t]*\n([\s\S]*?)\n?[ \t]*```\s*$/;

function withoutFence(code: string): string {
  const inner = FENCE.exec(code)?.[1];
  return inner === undefined
    ? code
    : `${"\n".repeat(code.slice(0, code.indexOf(inner)).split("\n").length - 1)}${inner}`;
}

/** A line after which a block can start: `if (x)`, `else`, `=>`. */
const BEFORE_BLOCK =
  /^\s*(?:\}\s*)?(?:if|else|for|while|do|with|try|catch|finally|switch|function|async|class|\))\b|\b(?:else|do|try|finally)\s*$|[^\w\s;})\]"'`]\s*$|^\s*\)/;

/** Puts braces at the end of a program, `{ total, names }`, in parentheses if an object is meant. JavaScript reads them as a block. */
function withLastObject(code: string, parses: (code: string, form: "script") => SyntaxProblem | undefined): string {
  const trimmed = code.trimEnd();
  if (!/\}\s*;?$/.test(trimmed)) return code;
  const start = trimmed.startsWith("{") ? 0 : trimmed.lastIndexOf("\n{") + 1;
  if (start === 0 && !trimmed.startsWith("{")) return code;
  const before = trimmed.slice(0, start).trimEnd();
  if (before !== "" && BEFORE_BLOCK.test(before.slice(before.lastIndexOf("\n") + 1))) return code;
  const object = trimmed.slice(start).replace(/;$/, "");
  return parses(`(${object})`, "script") === undefined ? `${trimmed.slice(0, start)};(${object})` : code;
}

const isReturn = (message: string): boolean => /return/i.test(message);

/** Returns the body of a program with an early return, changed so that the last expression is returned too. */
function returning(body: string, parses: (code: string, form: "function") => SyntaxProblem | undefined): string {
  const lines = body.trimEnd().split("\n");
  const last = lines.length - 1;
  for (let first = last; first >= Math.max(0, last - 30); first--) {
    const before = lines[first - 1]?.trimEnd() ?? ";";
    if (!/[;{}]$/.test(before) && !lines[first]?.startsWith(";(")) continue;
    const expression = lines
      .slice(first)
      .join("\n")
      .replaceAll(/^;|;\s*$/g, "");
    if (/^\s*(?:return|throw|\/\/|\}|$)/.test(expression)) return body;
    const whole = [...lines.slice(0, first), `return (${expression}\n)`].join("\n");
    return parses(whole, "function") === undefined ? whole : body;
  }
  return body;
}

/** Undefined in Bun, where programs can only be JavaScript. */
const { stripTypeScriptTypes } = module as Partial<typeof module>;

function strip(code: string): { readonly code: string } | SyntaxProblem {
  if (stripTypeScriptTypes === undefined) return { code };
  try {
    return { code: stripTypeScriptTypes(code, { mode: "strip" }) };
  } catch (error) {
    const { message, stack = "" } = error as Error;
    const line = /^:(\d+)\n/.exec(stack)?.[1];
    const known = message.replace(
      / is not supported in strip-only mode$/,
      " is not supported: only types are removed. Write it in plain JavaScript.",
    );
    return { message: `SyntaxError: ${known}`, ...(line !== undefined && { line: Number(line) }) };
  }
}

/** Loads the part of Node that removes types before the first program needs it. */
export function prepareCompiler(): void {
  strip("");
}
