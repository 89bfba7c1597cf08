import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { ErrorCode } from "../../../errors/codes.ts";
import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import { type AgentAnswer, type FollowedTask, toAnswer } from "./task-result.ts";

/**
 * The extension by which an agent card says that skills are tools: `params.tools` has the parameters of each, by the id of its skill. Such a
 * skill is run with a data part `{ tool, arguments }`, and what it returns is the one part of the task's artifact.
 */
export const TOOLS_EXTENSION = "urn:toolarsenal:a2a:tools:v1";

/** A skill that is one tool. */
export interface SkillTool {
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** The tools that the skills of a card are, by the id of the skill. */
export function readToolsExtension(capabilities: Readonly<Record<string, unknown>>): ReadonlyMap<string, SkillTool> {
  const { extensions } = capabilities;
  const extension: unknown = Array.isArray(extensions)
    ? extensions.find((each: unknown) => isPlainObject(each) && each["uri"] === TOOLS_EXTENSION)
    : undefined;
  const params = isPlainObject(extension) ? extension["params"] : undefined;
  const tools = isPlainObject(params) && isPlainObject(params["tools"]) ? params["tools"] : {};
  return new Map(
    Object.entries(tools).flatMap(([skill, tool]) => {
      if (!isPlainObject(tool) || !isPlainObject(tool["parameters"])) return [];
      const { parameters, annotations } = tool;
      return [[skill, { parameters, ...(isPlainObject(annotations) && { annotations }) }] as const];
    }),
  );
}

/** Refusals of the other side that mean the same here. Anything else is a failure of the tool. */
const SHARED_CODES: ReadonlySet<unknown> = new Set<ErrorCode>([
  "PERMISSION_DENIED",
  "APPROVAL_INVALID",
  "ARGUMENTS_INVALID",
  "TOOL_NOT_FOUND",
  "RATE_LIMITED",
  "OUTCOME_UNKNOWN",
  "RESULT_TOO_LARGE",
]);

/** What a tool of another arsenal returned. Throws with the code that the call was refused with there. */
export function toToolResult(task: FollowedTask, agent: string, tool: string): unknown {
  const refusal = task.said.find((part) => part.kind === "data")?.data;
  if (task.state === "failed" && isPlainObject(refusal) && SHARED_CODES.has(refusal["code"])) {
    const { code, message, fix, retryAfterMs } = refusal;
    throw new ArsenalError(code as ErrorCode, `The agent ${agent} refused: ${String(message)}`, {
      answered: true,
      ...(typeof fix === "string" && { fix }),
      ...(typeof retryAfterMs === "number" && { retryAfterMs }),
    });
  }
  const answer = toAnswer(task, agent, tool);
  if (task.state === "input-required") return { ...answer, next: NEXT } satisfies AgentAnswer;
  const [only, ...others] = [...task.artifacts.values()].flat();
  if (only === undefined || others.length > 0 || only.kind === "file") return answer;
  return only.kind === "data" ? only.data : only.text;
}

const NEXT = "Once it is approved there, make the same call again.";
