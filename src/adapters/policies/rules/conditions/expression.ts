import { nearest } from "../../../../errors/show-value.ts";
import type * as Cel from "@bufbuild/cel";
import {
  type CelLibrary,
  type CelNode,
  inPlace,
  literalText,
  loadCel,
  nestingOf,
  shortMessage,
  syntaxProblem,
  toCelInput,
} from "../../../cel.ts";
import { type Facts, PRINCIPAL_ATTRIBUTES, type UnknownAttribute, type When } from "./conditions.ts";
import { ANNOTATION_ATTRIBUTES, TOOL_ATTRIBUTES } from "../tool-view.ts";
import { remember } from "../../../../base/remember.ts";

const MAX_LENGTH = 2_000;

const MAX_NESTING = 24;

/**
 * Compiles an expression. Its evaluation cost is limited by its length, and by limits on the arguments that it may loop over. `problem` completes a
 * sentence after "does not compile".
 */
export function compileExpression(text: string): { readonly when?: When; readonly problem?: string } {
  if (text.length > MAX_LENGTH) return { problem: `: it has ${text.length} characters; the limit is ${MAX_LENGTH}` };
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

/** Loaded on the first expression, because other documents do not need the library. */
let loaded: ReturnType<typeof load> | undefined;

function load() {
  const library = loadCel();
  return { ...library, variablesOf: createVariables(library) };
}

/**
 * Creates the variables of expressions in the library's format, on first use. The variables of a call are created once for the call, those of a tool
 * once for the tool.
 */
function createVariables({ cel, timestamp }: CelLibrary): (facts: Facts) => Record<string, Cel.CelInput> {
  const toMap = (object: Readonly<Record<string, unknown>>): Cel.CelInput => toCelInput(object, cel);
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

/**
 * Finds the names in an expression. Refuses expressions that would always fail or take long: unknown names and functions, bad or computed patterns,
 * nested loops.
 */
function inspectExpression(
  { expr, sourceInfo }: ReturnType<typeof Cel.parse>,
  { environment, pattern }: Pick<CelLibrary, "environment" | "pattern">,
) {
  const variables = new Set<string>();
  const unknown: UnknownAttribute[] = [];
  let loops = false;
  let problem: { readonly message: string; readonly offset: number | undefined } | undefined;

  function refuse({ id }: CelNode, message: string): void {
    problem ??= { message, offset: sourceInfo?.positions[String(id)] };
  }

  function checkCall(node: CelNode, { function: name, args }: Readonly<Record<string, unknown>>): void {
    if (/^[A-Za-z]/.test(String(name)) && environment.funcs.find(String(name)) === undefined)
      refuse(node, `unknown function "${String(name)}"`);
    if (name !== "matches") return;
    const source = literalText((args as readonly CelNode[]).at(-1));
    try {
      if (source === undefined) throw new Error("it must be a string, not computed");
      pattern(source);
    } catch (error) {
      refuse(node, `the pattern of matches() cannot be used: ${shortMessage(error)}`);
    }
  }

  /** Visits every expression in a part of an expression. */
  function visit(value: unknown, scope: ReadonlySet<string>, inLoop: boolean): void {
    if (typeof value !== "object" || value === null) return;
    const node = value as CelNode;
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

/** Returns the attribute that an expression selects, if no tool or caller has it. */
function unknownAttribute(node: CelNode, scope: ReadonlySet<string>): UnknownAttribute | undefined {
  const { operand, field } = node.exprKind?.value ?? {};
  const owner = pathOf(operand as CelNode, scope) ?? "";
  const known = Object.hasOwn(ATTRIBUTES, owner) ? ATTRIBUTES[owner] : undefined;
  if (known === undefined || known.includes(String(field))) return undefined;
  const near = nearest(String(field), known);
  const fix = near === undefined ? `${owner} has ${known.join(", ")}.` : `Did you mean ${owner}.${near}?`;
  return { name: `${owner}.${String(field)}`, fix };
}

/** Returns the path that an expression reads, such as `tool.annotations`. */
function pathOf(
  { exprKind: { case: kind, value = {} } = {} }: CelNode,
  scope: ReadonlySet<string>,
): string | undefined {
  if (kind === "identExpr") return scope.has(String(value["name"])) ? undefined : String(value["name"]);
  const owner = kind === "selectExpr" ? pathOf(value["operand"] as CelNode, scope) : undefined;
  return owner && `${owner}.${String(value["field"])}`;
}

/** Limits on data: for an expression that reads it once, and for an expression with a loop. */
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
