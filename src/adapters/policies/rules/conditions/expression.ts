import { messageOf, nearest } from "../../../../errors/show-value.ts";
import { createRequire } from "node:module";
import type * as Cel from "@bufbuild/cel";
import type { RE2JS } from "re2js";
import { re2 } from "../../../re2.ts";
import { type Facts, PRINCIPAL_ATTRIBUTES, type UnknownAttribute, type When } from "./conditions.ts";
import { ANNOTATION_ATTRIBUTES, TOOL_ATTRIBUTES } from "../tool-view.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { remember } from "../../../../base/remember.ts";

const MAX_LENGTH = 2_000;

const MAX_NESTING = 24;

/** Compiles an expression. Its evaluation cost is bounded by its length and by limits on the arguments it may loop over. `problem` follows "does not compile". */
export function compileExpression(text: string): { readonly when?: When; readonly problem?: string } {
  if (text.length > MAX_LENGTH)
    return { problem: `: it has ${text.length} characters, and ${MAX_LENGTH} are the most` };
  if (nestingOf(text) > MAX_NESTING) return { problem: `: it nests brackets deeper than ${MAX_NESTING}` };
  const known = (loaded ??= load());
  const { cel, environment, variablesOf } = known;
  let parsed: ReturnType<typeof Cel.parse>;
  try {
    parsed = cel.parse(text);
  } catch (error) {
    return { problem: syntaxProblem(error) };
  }
  const { variables, loops, unknown, problem } = inspectExpression(parsed, known);
  if (problem !== undefined) return { problem: inPlace(problem.message, text, problem.offset) };
  const run = cel.plan(environment, parsed);
  const when: When = {
    text,
    usesArguments: variables.has("args"),
    usesTime: variables.has("now"),
    unknown,
    evaluate(facts) {
      if (variables.has("args") && exceeds(facts, loops)) return { failed: "the arguments are too large for it" };
      try {
        const value = run(variablesOf(facts));
        if (typeof value === "boolean") return value;
        return { failed: cel.isCelError(value) ? shortMessage(value) : "it is neither true nor false" };
      } catch (error) {
        return { failed: shortMessage(error) };
      }
    },
  };
  return { when };
}

/** Loaded on the first expression: other documents do not need the library. */
let loaded: ReturnType<typeof load> | undefined;

function load() {
  const cel = createRequire(import.meta.url)("@bufbuild/cel") as typeof Cel;
  // Patterns are literals of the documents, so there are few, and each is compiled once.
  const patterns = new Map<string, RE2JS>();
  const pattern = (source: string): RE2JS => {
    let known = patterns.get(source);
    if (known === undefined) patterns.set(source, (known = re2().compile(source)));
    return known;
  };
  const environment = cel.celEnv({ re2: { compile: pattern }, funcs: [strictDouble(cel)] });
  const toTimestamp = cel.plan(environment, cel.parse("timestamp(text)"));
  const timestamp = (ms: number): Cel.CelInput => {
    const value = toTimestamp({ text: new Date(ms).toISOString() });
    if (cel.isCelError(value)) throw value;
    return value;
  };
  return { cel, environment, pattern, variablesOf: createVariables(cel, timestamp) };
}

/** The library converts a non-numeric text to NaN. Comparing with NaN is always false, so a rule that refuses would not apply. */
function strictDouble({ celFunc, CelScalar }: typeof Cel): Cel.CelFunc {
  return celFunc("double", [CelScalar.STRING], CelScalar.DOUBLE, (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw new Error("double: the text is not a number");
    return value;
  });
}

/** Counted before parsing, which is recursive. Brackets in strings count as well: it is an upper bound. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if ("([{".includes(character)) deepest = Math.max(deepest, ++depth);
    else if (")]}".includes(character)) depth = Math.max(0, depth - 1);
  }
  return deepest;
}

function syntaxProblem(error: unknown): string {
  const message = shortMessage(error).replace(/^<input>:\d+:\d+: /, "");
  const { start } =
    (error as { readonly location?: { readonly start?: { line: number; column: number } } }).location ?? {};
  // The library appends everything it would have accepted.
  const [, found] = /^found (.*?) but expecting/s.exec(message) ?? [];
  return placed(found === undefined ? message : `unexpected ${found}`, start);
}

function inPlace(message: string, text: string, offset: number | undefined): string {
  const before = text.slice(0, offset).split("\n");
  const start = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  return placed(message, offset === undefined ? undefined : start);
}

function placed(message: string, start: { readonly line: number; readonly column: number } | undefined): string {
  if (start === undefined) return `: ${message}`;
  return ` at ${start.line === 1 ? "" : `line ${start.line}, `}column ${start.column}: ${message}`;
}

function shortMessage(error: unknown): string {
  const message = messageOf(error);
  return message.length <= 200 ? message : `${message.slice(0, 199)}…`;
}

/** The variables of expressions, in the library's format. Created on first use, once for each call; those of a tool, once. */
function createVariables(
  cel: typeof Cel,
  timestamp: (ms: number) => Cel.CelInput,
): (facts: Facts) => Record<string, Cel.CelInput> {
  /** The library's own map treats a key with null as missing: `has(args.x)` would be false. */
  function toMap(object: Readonly<Record<string, unknown>>): Cel.CelInput {
    const entries = Object.entries(object).filter(([, member]) => member !== undefined);
    const map = cel.celMap(new Map(entries.map(([key, member]) => [key, toInput(member)])));
    return Object.assign(map, { has: (key: Parameters<typeof map.has>[0]) => map.get(key) !== undefined });
  }

  function toInput(value: unknown): Cel.CelInput {
    if (Array.isArray(value)) return value.map(toInput);
    // The library refuses values that are not JSON when an expression reads them.
    return isPlainObject(value) ? toMap(value) : (value as Cel.CelInput);
  }

  const toolOf = remember(toMap);

  return remember((facts) => {
    const made: Record<string, Cel.CelInput> = {};
    const offer = (name: string, make: () => Cel.CelInput): void => {
      let value: Cel.CelInput | undefined;
      Object.defineProperty(made, name, { get: () => (value ??= make()) });
    };
    offer("tool", () => toolOf(facts.tool));
    offer("principal", () => toMap(facts.principal));
    offer("args", () => toMap(facts.arguments));
    offer("now", () => timestamp(facts.now()));
    return made;
  });
}

const VARIABLES: ReadonlySet<string> = new Set(["tool", "args", "principal", "now"]);

/** Types are values in CEL: `type(args.amount) == double`. */
const TYPES: ReadonlySet<string> = new Set("int uint double bool string bytes list map null_type type".split(" "));

/** Finds the names that an expression uses. Refuses expressions that would always fail or take long: unknown names and functions, bad or computed patterns, nested loops. */
function inspectExpression(
  { expr, sourceInfo }: ReturnType<typeof Cel.parse>,
  { environment, pattern }: Pick<ReturnType<typeof load>, "environment" | "pattern">,
) {
  const variables = new Set<string>();
  const unknown: UnknownAttribute[] = [];
  let loops = false;
  let problem: { readonly message: string; readonly offset: number | undefined } | undefined;

  function refuse({ id }: Node, message: string): void {
    problem ??= { message, offset: sourceInfo?.positions[String(id)] };
  }

  function checkCall(node: Node, { function: name, args }: Readonly<Record<string, unknown>>): void {
    if (/^[A-Za-z]/.test(String(name)) && environment.funcs.find(String(name)) === undefined)
      refuse(node, `unknown function "${String(name)}"`);
    if (name !== "matches") return;
    const source = literalText((args as readonly Node[]).at(-1));
    try {
      if (source === undefined) throw new Error("it must be a string, not computed");
      pattern(source);
    } catch (error) {
      refuse(node, `the pattern of matches() cannot be used: ${shortMessage(error)}`);
    }
  }

  /** Visits every expression in a part of one. */
  function visit(value: unknown, scope: ReadonlySet<string>, inLoop: boolean): void {
    if (typeof value !== "object" || value === null) return;
    const node = value as Node;
    if (node.exprKind === undefined) {
      for (const member of Object.values(value)) visit(member, scope, inLoop);
      return;
    }
    const { case: kind, value: part = {} } = node.exprKind;
    switch (kind) {
      case "identExpr": {
        const name = String(part["name"]);
        if (scope.has(name)) return;
        if (VARIABLES.has(name)) variables.add(name);
        else if (!TYPES.has(name)) refuse(node, `there is no "${name}"; there are ${[...VARIABLES].join(", ")}`);
        return;
      }
      case "comprehensionExpr": {
        loops = true;
        if (inLoop) refuse(node, "a loop (all, exists, map, filter) is nested in another");
        visit([part["iterRange"], part["accuInit"]], scope, inLoop);
        const inner = new Set([...scope, ...["iterVar", "iterVar2", "accuVar"].map((key) => String(part[key]))]);
        return visit([part["loopCondition"], part["loopStep"], part["result"]], inner, true);
      }
      case "constExpr":
        return;
      case "selectExpr": {
        const attribute = unknownAttribute(node, scope);
        if (attribute !== undefined) unknown.push(attribute);
        break;
      }
      case "callExpr":
        checkCall(node, part);
        break;
      case "structExpr":
        if (part["messageName"] !== "") refuse(node, `unknown type "${String(part["messageName"])}"`);
        break;
      default:
        break;
    }
    for (const member of Object.values(part)) visit(member, scope, inLoop);
  }

  visit(expr, new Set(), false);
  return { variables, loops, unknown, problem };
}

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  tool: TOOL_ATTRIBUTES,
  "tool.annotations": ANNOTATION_ATTRIBUTES,
  principal: PRINCIPAL_ATTRIBUTES,
};

/** The attribute that an expression selects, if no tool or caller has it. */
function unknownAttribute(node: Node, scope: ReadonlySet<string>): UnknownAttribute | undefined {
  const { operand, field } = node.exprKind?.value ?? {};
  const owner = pathOf(operand as Node, scope) ?? "";
  const known = Object.hasOwn(ATTRIBUTES, owner) ? ATTRIBUTES[owner] : undefined;
  if (known === undefined || known.includes(String(field))) return undefined;
  const near = nearest(String(field), known);
  const fix = near === undefined ? `${owner} has ${known.join(", ")}.` : `Did you mean ${owner}.${near}?`;
  return { name: `${owner}.${String(field)}`, fix };
}

/** `tool.annotations`, for the expression that reads it. */
function pathOf({ exprKind: { case: kind, value = {} } = {} }: Node, scope: ReadonlySet<string>): string | undefined {
  if (kind === "identExpr") return scope.has(String(value["name"])) ? undefined : String(value["name"]);
  const owner = kind === "selectExpr" ? pathOf(value["operand"] as Node, scope) : undefined;
  return owner && `${owner}.${String(value["field"])}`;
}

interface Node {
  readonly id?: unknown;
  readonly exprKind?: { readonly case?: string | undefined; readonly value?: Readonly<Record<string, unknown>> };
}

function literalText(node: Node | undefined): string | undefined {
  if (node?.exprKind?.case !== "constExpr") return undefined;
  const constant = node.exprKind.value?.["constantKind"] as { readonly case?: string; readonly value?: unknown };
  return constant.case === "stringValue" ? String(constant.value) : undefined;
}

/** The limits on data that an expression reads once, and that one with a loop reads repeatedly. */
const LIMITS = {
  once: { values: 100_000, characters: 4_000_000 },
  looping: { values: 2_000, characters: 64_000 },
} as const;

/** Measured once per call. */
const sizeOf = remember(({ arguments: args }: Facts) => measure(args));

function exceeds(facts: Facts, loops: boolean): boolean {
  const size = sizeOf(facts);
  const { values, characters } = loops ? LIMITS.looping : LIMITS.once;
  return size.values > values || size.characters > characters;
}

/** Counts values, and the characters of texts and keys, up to the larger limit. */
function measure(value: unknown) {
  const waiting: unknown[] = [value];
  let values = 0;
  let characters = 0;
  while (waiting.length > 0 && values <= LIMITS.once.values && characters <= LIMITS.once.characters) {
    const next = waiting.pop();
    values++;
    if (typeof next === "string") characters += next.length;
    else if (Array.isArray(next)) {
      if (next.length > LIMITS.once.values) return { values: next.length, characters };
      for (const member of next) waiting.push(member);
    } else if (typeof next === "object" && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        characters += key.length;
        waiting.push(member);
      }
    }
  }
  return { values, characters };
}
