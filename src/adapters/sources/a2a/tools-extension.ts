import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../../errors/codes.ts";
import { asRecord, asRecords, isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import { type FollowedTask, toAnswer } from "./task-result.ts";

/**
 * The extension of an agent card that marks skills as tools. `params.tools` maps the id of a skill to the tool's parameters. Such a skill is called
 * with a data part `{ tool, arguments }`. Its task has one artifact with one part: the tool's output.
 */
export const TOOLS_EXTENSION = "urn:toolarsenal:a2a:tools:v1";

export interface SkillTool {
  readonly parameters: JsonSchema;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** Returns the skills of a card that are tools, by skill id. */
export function readToolsExtension(capabilities: Readonly<Record<string, unknown>>): ReadonlyMap<string, SkillTool> {
  const extension = asRecords(capabilities["extensions"]).find(({ uri }) => uri === TOOLS_EXTENSION);
  const tools = asRecord(asRecord(extension?.["params"])["tools"]);
  return new Map(
    Object.entries(tools).flatMap(([skill, tool]) => {
      const { parameters, annotations } = asRecord(tool);
      if (!isPlainObject(parameters)) return [];
      return [[skill, { parameters, ...(isPlainObject(annotations) && { annotations }) }] as const];
    }),
  );
}

/** Error codes of the other arsenal that mean the same here. Any other code becomes a failure of the tool. */
const SHARED_CODES: ReadonlySet<unknown> = new Set<ErrorCode>([
  "PERMISSION_DENIED",
  "APPROVAL_INVALID",
  "ARGUMENTS_INVALID",
  "TOOL_NOT_FOUND",
  "RATE_LIMITED",
  "OUTCOME_UNKNOWN",
  "RESULT_TOO_LARGE",
]);

/**
 * Returns the output of another arsenal's tool. Throws the error that refused the call there, or CONFIRMATION_REQUIRED if the call waits for
 * approval.
 */
export function toToolResult(task: FollowedTask, agent: string, tool: string): unknown {
  const refusal = asRecord(task.said.find((part) => part.kind === "data")?.data);
  if (task.state === "failed" && SHARED_CODES.has(refusal["code"])) {
    const { code, message, fix, retryAfterMs } = refusal;
    throw new ArsenalError(code as ErrorCode, `The agent ${agent} refused: ${String(message)}`, {
      answered: true,
      ...(code === "OUTCOME_UNKNOWN" && { fault: "tool" }),
      ...(typeof fix === "string" && { fix }),
      ...(typeof retryAfterMs === "number" && { retryAfterMs }),
    });
  }
  if (task.state === "input-required" && refusal["status"] === "pending_confirmation") throw waits(refusal, agent);
  const answer = toAnswer(task, agent, tool);
  const [only, ...others] = [...task.artifacts.values()].flat();
  if (only === undefined || others.length > 0 || only.kind === "file") return answer;
  return only.kind === "data" ? only.data : only.text;
}

/** The call waits for approval in the other arsenal. After a person approves it there, the same call succeeds without an approval id. */
function waits(refusal: Readonly<Record<string, unknown>>, agent: string): ArsenalError {
  const { message, fix: theirs, confirmationId } = refusal;
  const said = String(message);
  // The other arsenal's fix is written for its own callers.
  const why = typeof theirs === "string" && said.endsWith(` ${theirs}`) ? said.slice(0, -theirs.length - 1) : said;
  const fix = `Approve ${confirmationId === undefined ? "it" : String(confirmationId)} at the agent ${agent}, then make the same call again.`;
  const details = { answered: true, ...(confirmationId !== undefined && { value: { confirmationId } }) };
  return fixable("CONFIRMATION_REQUIRED", `The agent ${agent} needs an approval: ${why}`, fix, details);
}
