/** What a rule's expression may name. */
const VARIABLES: ReadonlySet<string> = new Set(["tool", "args", "principal", "now"]);

/** Types are values in CEL: `type(args.amount) == double`. */
const TYPES: ReadonlySet<string> = new Set([
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "bytes",
  "list",
  "map",
  "null_type",
  "type",
]);

/** The part of a parsed expression that is looked at. */
export interface ParsedExpression {
  readonly expr?: unknown;
  readonly sourceInfo?: { readonly positions?: Readonly<Record<string, number>> } | undefined;
}

/** What of an expression is known before it ever runs. */
export type Inspected =
  | { readonly variables: ReadonlySet<string>; readonly loops: boolean }
  | { readonly problem: { readonly message: string; readonly offset: number | undefined } };

/**
 * Finds what an expression uses, and refuses at once what could only fail, or take long, with every call: names and functions that do not
 * exist, patterns that are wrong or come from the call, and loops within loops.
 */
export function inspectExpression(
  parsed: ParsedExpression,
  known: { knowsFunction(name: string): boolean; patternProblem(source: string): string | undefined },
): Inspected {
  const variables = new Set<string>();
  let loops = false;
  let problem: { readonly message: string; readonly offset: number | undefined } | undefined;

  function refuse(node: Node, message: string): void {
    problem ??= { message, offset: parsed.sourceInfo?.positions?.[String(node.id)] };
  }

  function visit(value: unknown, scope: ReadonlySet<string>, inLoop: boolean): void {
    const node = value as Node | undefined;
    if (node?.exprKind === undefined) return;
    const { case: kind, value: part = {} } = node.exprKind;
    switch (kind) {
      case "identExpr": {
        const name = String(part["name"]);
        if (scope.has(name)) return;
        if (VARIABLES.has(name)) variables.add(name);
        else if (!TYPES.has(name)) refuse(node, `there is no "${name}"; there are ${[...VARIABLES].join(", ")}`);
        return;
      }
      case "selectExpr":
        return visit(part["operand"], scope, inLoop);
      case "callExpr": {
        const name = String(part["function"]);
        const given = part["args"] as readonly Node[];
        if (/^[A-Za-z]/.test(name) && !known.knowsFunction(name)) refuse(node, `there is no function "${name}"`);
        if (name === "matches") {
          const source = literalText(given.at(-1));
          const wrong = source === undefined ? "it must be a text, not computed" : known.patternProblem(source);
          if (wrong !== undefined) refuse(node, `the pattern of matches() cannot be used: ${wrong}`);
        }
        visit(part["target"], scope, inLoop);
        for (const argument of given) visit(argument, scope, inLoop);
        return;
      }
      case "listExpr":
        for (const element of part["elements"] as readonly unknown[]) visit(element, scope, inLoop);
        return;
      case "structExpr": {
        if (part["messageName"] !== "") refuse(node, `there is no type "${String(part["messageName"])}"`);
        for (const entry of part["entries"] as readonly { keyKind?: { value?: unknown }; value?: unknown }[]) {
          visit(entry.keyKind?.value, scope, inLoop);
          visit(entry.value, scope, inLoop);
        }
        return;
      }
      case "comprehensionExpr": {
        loops = true;
        if (inLoop) refuse(node, "a loop (all, exists, map, filter) stands within another");
        visit(part["iterRange"], scope, inLoop);
        visit(part["accuInit"], scope, inLoop);
        const inner = new Set([...scope, ...["iterVar", "iterVar2", "accuVar"].map((key) => String(part[key]))]);
        for (const key of ["loopCondition", "loopStep", "result"]) visit(part[key], inner, true);
        return;
      }
      default:
        return;
    }
  }

  visit(parsed.expr, new Set(), false);
  return problem === undefined ? { variables, loops } : { problem };
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
