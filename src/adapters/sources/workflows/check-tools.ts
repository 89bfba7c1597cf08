import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { WorkflowDefinition } from "./definition.ts";
import type { Expression } from "./expression.ts";
import type { PlannedStep, WorkflowPlan } from "./plan.ts";
import { inWords, itemsOf, misfits, typeNames } from "./schema-parts.ts";
import type { ReportProblem, Template } from "./template.ts";
import { expressionType, type ReportReference, templateType, type TypeScope, UNKNOWN } from "./value-types.ts";

/** The tools that a workflow names. Tools that are not in the catalog are undefined. */
export type NamedTools = ReadonlyMap<string, Tool | undefined>;

/** Checks a workflow against the definitions of its tools. Returns the schema of its result. */
export function checkTools(
  { definition, steps, result }: WorkflowPlan,
  tools: NamedTools,
  similar: (name: string) => string | undefined,
  report: ReportProblem,
): JsonSchema {
  const scope: Record<string, JsonSchema> = { inputs: inputsSchema(definition), steps: UNKNOWN };
  const types: Record<string, JsonSchema> = {};
  for (const planned of steps) types[planned.id] = stepType(planned, tools);
  scope["steps"] = { type: "object", properties: types, additionalProperties: false };
  for (const planned of steps) {
    const { path, step, compensate } = planned;
    const own = stepScope(planned, scope, report);
    checkExpression(planned.if, [...path, "if"], own, "boolean", report);
    if (planned.approval) templateType(planned.approval, own, reporter([...path, "approval"], report));
    if (step.tool !== undefined) checkCall(step.tool, planned.arguments, path, own);
    const one = tools.get(step.tool ?? "")?.returns ?? UNKNOWN;
    if (compensate) checkCall(compensate.tool, compensate.arguments, [...path, "compensate"], { ...own, result: one });
  }
  return templateType(result, scope, reporter(["result"], report));

  function checkCall(name: string, args: Template, path: readonly string[], own: TypeScope): void {
    const given = typeOfArguments(args, [...path, "arguments"], own, report);
    const tool = tools.get(name);
    if (tool === undefined) {
      const near = similar(name);
      const fix = near === undefined ? "Add the source that has it, or fix the name." : `Did you mean ${near}?`;
      return report([...path, "tool"], `"${name}" is not a tool`, name, fix);
    }
    for (const misfit of misfits(given, { ...tool.parameters, type: "object" }))
      report([...path, "arguments", ...misfit.path], `of ${tool.id} ${misfit.message}`, undefined, misfit.fix);
  }
}

/** Reports each problem at the argument that causes it, because arguments have lines of their own. */
function typeOfArguments(args: Template, path: readonly string[], scope: TypeScope, report: ReportProblem): JsonSchema {
  if (args.kind !== "object") return templateType(args, scope, reporter(path, report));
  const properties = Object.fromEntries(
    Object.entries(args.members).map(([key, each]) => [key, typeOfArguments(each, [...path, key], scope, report)]),
  );
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function reporter(path: readonly string[], report: ReportProblem): ReportReference {
  return (message, fix) => report(path, message, undefined, fix);
}

/** Returns the schema of the inputs in expressions. Undeclared inputs do not exist. */
function inputsSchema({ inputs = {} }: WorkflowDefinition): JsonSchema {
  return { ...inputs, type: "object", properties: inputs.properties ?? {} };
}

const APPROVED: JsonSchema = { type: "boolean" };

function stepType({ step }: PlannedStep, tools: NamedTools): JsonSchema {
  const one = step.tool === undefined ? APPROVED : (tools.get(step.tool)?.returns ?? UNKNOWN);
  const result = step.forEach === undefined ? one : { type: "array", items: one };
  return {
    type: "object",
    properties: { result, status: { enum: ["success", "skipped"] } },
    additionalProperties: false,
  };
}

/** Returns the variables of a step. A step with `forEach` also has `item` and `index`. */
function stepScope({ forEach, path }: PlannedStep, scope: TypeScope, report: ReportProblem): TypeScope {
  if (forEach === undefined) return scope;
  const list = checkExpression(forEach, [...path, "forEach"], scope, "array", report);
  return { ...scope, item: itemsOf(list) ?? UNKNOWN, index: { type: "integer" } };
}

function checkExpression(
  expression: Expression | undefined,
  path: readonly string[],
  scope: TypeScope,
  wanted: "boolean" | "array",
  report: ReportProblem,
): JsonSchema {
  if (expression === undefined) return UNKNOWN;
  const type = expressionType(expression, scope, reporter(path, report));
  const types = typeNames(type);
  if (types !== undefined && !types.has(wanted)) {
    const is = inWords(types);
    const [message, fix] =
      wanted === "array"
        ? [`is ${is}, but must be a list`, "Name a list, such as steps.find.result.rows."]
        : [`is ${is}, but must be true or false`, "Compare it with something: == null, > 0."];
    report(path, message, expression.text, fix);
  }
  return type;
}

/** Returns the declared inputs as the parameters of a tool. */
export function parametersOf({ inputs }: WorkflowDefinition): JsonSchema {
  if (!isPlainObject(inputs)) return { type: "object", properties: {}, additionalProperties: false };
  return { ...inputs, type: "object", additionalProperties: inputs["additionalProperties"] ?? false };
}
