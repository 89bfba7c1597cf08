import {
  anything,
  entry,
  hinted,
  type InputOf,
  list,
  number,
  refined,
  schema,
  strings,
  text,
  whole,
} from "../../../tool/shape/shape.ts";
import type { JsonSchema } from "../../../tool/json-schema.ts";
import { LIMITS } from "../../../tool/limits.ts";

export const MOST_STEPS = 100;

/** The most items of one `forEach`. */
export const MOST_ITEMS = 1_000;

/** Names that expressions can use: `steps.find_order`. */
const STEP_ID = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const stepId = hinted(text("The step's name in expressions and in `needs`."), {
  fits: (value) => typeof value === "string" && STEP_ID.test(value),
  problem: "must be letters, digits and _, and not begin with a digit",
  fix: "Write a name such as find_order.",
});

const toolName = text("The id of the tool, such as billing.refund_user.");

const values = anything("The arguments. `${{ … }}` is replaced by the value of the expression.");

export const COMPENSATION = entry(
  "The call that undoes the step if a later one fails. Its expressions can use `result`, the result of the step.",
  { tool: toolName, arguments: values },
  ["tool"],
);

export const WORKFLOW_STEP = entry(
  "A step: a call of a tool, or an approval.",
  {
    id: stepId,
    tool: toolName,
    arguments: values,
    /** The question for the person. The step ends when a person has approved. */
    approval: text(
      "A question for a person to approve, instead of a tool. `${{ … }}` is replaced by the value of the expression.",
    ),
    needs: strings(
      "Ids of steps that must end before this step starts, in addition to the steps that its expressions use.",
    ),
    if: text("An expression. The step is skipped unless it is true."),
    forEach: text(
      "An expression that returns a list. The step runs once for each `item` of the list, and its result is a list.",
    ),
    parallel: whole("Maximum number of items that run concurrently. Defaults to the `parallel` of the source.", 1, 64),
    retries: whole("Maximum number of retries of a call that is safe to retry.", 0, 4),
    timeoutMs: number("Timeout of one attempt, in milliseconds.", LIMITS.timeoutMinMs, LIMITS.timeoutMaxMs),
    compensate: COMPENSATION,
  },
  ["id"],
);

/** One step of a workflow. */
export interface WorkflowStep extends InputOf<typeof WORKFLOW_STEP> {}

export const WORKFLOW = entry(
  "A workflow: several tool calls that together are one tool.",
  {
    name: text("The name of the tool."),
    description: text("Description for the model and for the search."),
    title: text("A short display name."),
    examples: refined(list("Example requests that the workflow serves, in a user's words.", text("A request.")), {
      maxItems: LIMITS.examples,
    }),
    tags: strings("Words by which callers filter tools."),
    inputs: schema<JsonSchema>({
      description: "JSON Schema of the inputs: an object with `properties`.",
      type: "object",
    }),
    steps: refined(
      list<WorkflowStep>("The steps. Steps that do not depend on each other run concurrently.", WORKFLOW_STEP),
      {
        maxItems: MOST_STEPS,
      },
    ),
    result: schema<unknown>({
      description: "The result: any value that may contain `${{ … }}`. Defaults to the result of the last step.",
    }),
    timeoutMs: number("How long a caller waits for a run, in milliseconds.", LIMITS.timeoutMinMs, LIMITS.timeoutMaxMs),
  },
  ["name", "description", "steps"],
);

/** A workflow, as a file declares it. */
export interface WorkflowDefinition extends InputOf<typeof WORKFLOW> {}

/**
 * Declares a workflow in a TypeScript file. The file exports it as its default export.
 *
 * @example
 * export default defineWorkflow({ name: "greet", description: "Greets a user.", steps: [{ id: "send", tool: "mail.send" }] });
 */
export function defineWorkflow(definition: WorkflowDefinition): WorkflowDefinition {
  return definition;
}
