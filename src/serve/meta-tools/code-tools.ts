import { ArsenalError, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { CodeMode, CodeResult } from "../../programs/code-mode.ts";
import type { ServedArsenal } from "../served-arsenal.ts";
import type { Startup } from "../startup.ts";
import { sayConnecting } from "../startup.ts";
import { type ShownTool, SKILLS_PARAMETER, wantsSkills } from "./definitions.ts";
import type { MetaCaller } from "./find-tools.ts";
import { toObject } from "./repair-call.ts";

/** The names of the meta-tools of code mode. They never change. */
export const CODE_TOOL_NAMES: ReadonlySet<string> = new Set(["search", "describe", "run"]);

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;
const MOST_DESCRIBED = 50;

/** Returns the meta-tools of code mode as a client lists them. `hasSkills`: a search can also return skills. */
export function codeTools(toolCount: number, hasSkills = false): readonly ShownTool[] {
  return [
    {
      name: "search",
      description: "Find tools by what they do. Returns one line for each, as the call to write in run.",
      inputSchema: {
        type: "object",
        properties: {
          query: { type: "string" },
          limit: { type: "integer", default: DEFAULT_LIMIT },
          ...(hasSkills && SKILLS_PARAMETER),
        },
        required: ["query"],
      },
    },
    {
      name: "describe",
      description: "TypeScript declarations of tools, with their result types, if a line of search is not enough.",
      inputSchema: {
        type: "object",
        properties: { tools: { type: "array", items: { type: "string" } } },
        required: ["tools"],
      },
    },
    {
      name: "run",
      description: `Run a TypeScript program that calls tools: \`const issues = await github.search_issues({ query }); count(issues, "state")\`. It can call your ${toolCount} tools and nothing else; each call is checked and limited like one of yours. Use await, loops, Promise.all and try/catch; return only what you need. Helpers: pick(list, ...keys), group(list, key), count(list, key), parallel(list, n, fn), dates, sleep(ms).`,
      inputSchema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
    },
  ];
}

export async function codeOf({ codeMode }: Pick<ServedArsenal, "codeMode">): Promise<CodeMode> {
  if (codeMode === undefined) throw new ArsenalError("INTERNAL_ERROR", "Code mode is not served here.");
  return codeMode();
}

/** The answer to `search` or `describe`: text for the model. If `isError` is true, it is a correction. */
export interface CodeToolText {
  readonly text: string;
  readonly isError?: true;
}

const invalid = (text: string): CodeToolText => ({ text, isError: true });

export async function answerCodeTool(
  name: "search" | "describe",
  given: unknown,
  caller: MetaCaller,
  parts: { readonly arsenal: Pick<ServedArsenal, "retrieve">; readonly startup: Startup; readonly code: CodeMode },
): Promise<CodeToolText> {
  const { arsenal, startup, code } = parts;
  const { principal, signal, trace } = caller;
  const read = toObject(given) ?? {};
  const { query, limit, tools } = read;
  await startup.wait(signal);
  if (name === "describe") {
    const names = typeof tools === "string" ? [tools] : tools;
    if (!Array.isArray(names) || names.length === 0 || names.some((each) => typeof each !== "string"))
      return invalid(`tools is ${showValue(tools)}. Give a list of names, such as ["github.search_issues"].`);
    return { text: await code.describe(names.slice(0, MOST_DESCRIBED) as string[], { principal }) };
  }
  if (typeof query !== "string" || query.trim() === "")
    return invalid(`query is ${showValue(query)}. Say in words what you are trying to accomplish.`);
  const most = limit === undefined || limit === null ? DEFAULT_LIMIT : Math.trunc(Number(limit));
  if (!(most >= 1)) return invalid(`limit is ${showValue(limit)}. Give a number from 1 to ${MAX_LIMIT}.`);
  try {
    const count = Math.min(most, MAX_LIMIT);
    const asked = { ...trace, context: { query }, limit: count, principal, signal, refuse: "never" } as const;
    const found = await arsenal.retrieve({ ...asked, ...(wantsSkills(read) && { includeSkills: true }) });
    const nearest = found.tools.length > 0 ? found.tools : (found.nearest ?? []).slice(0, count);
    const lines = nearest.map(({ tool }) => code.signature(tool, principal));
    const connecting = sayConnecting(startup.shown(), "Their tools are not found yet: try again in a few seconds.");
    if (lines.length === 0) lines.push("No tool was found. Search again in other words, or tell the user.");
    else if (found.nothingFits) lines.push("None of these may fit. Search again in other words, or tell the user.");
    for (const { name: skill, uri, description } of found.skills ?? [])
      lines.push(`Skill ${skill}, at the resource ${uri}: ${description.replaceAll(/\s+/g, " ")}`);
    return { text: [...lines, ...(connecting === "" ? [] : [connecting])].join("\n") };
  } catch (error) {
    if (isArsenalError(error) && (error.code === "QUERY_INVALID" || error.code === "RATE_LIMITED"))
      return invalid(error.message);
    throw error;
  }
}

export function toRunContent({ value, logs, calls, truncated, error, status, confirmationId }: CodeResult): object {
  if (status === "success") return { value: value ?? null, logs, calls, ...(truncated !== undefined && { truncated }) };
  return { error, logs, calls, ...(confirmationId !== undefined && { status, confirmationId }) };
}

/** Returns the result of `run` as text, without fields that a model does not need. */
export function toRunText(result: CodeResult): string {
  const { value, logs, truncated, error, calls } = result;
  if (result.status === "success") {
    const shown = {
      value: value ?? null,
      ...(logs.length > 0 && { logs }),
      ...(truncated !== undefined && { truncated }),
    };
    return logs.length === 0 && truncated === undefined ? JSON.stringify(value ?? null) : JSON.stringify(shown);
  }
  const ran = calls.map(({ tool, status }) => `${tool} (${status})`);
  return JSON.stringify({ error, ...(logs.length > 0 && { logs }), ...(ran.length > 0 && { ran }) });
}

/** Checks the arguments of `run`. Returns the program, or a correction for the model. */
export function readProgram(given: unknown): { readonly code: string } | CodeToolText {
  const { code } = toObject(given) ?? (typeof given === "string" ? { code: given } : {});
  if (typeof code === "string" && code.trim() !== "") return { code: unfenced(code) };
  return invalid(`code is ${showValue(code)}. Give a program as text.`);
}

/** Removes a code fence, which models often add. */
function unfenced(code: string): string {
  const fenced = /^\s*```(?:ts|typescript|js|javascript)?\n([\s\S]*?)\n?```\s*$/.exec(code);
  return fenced?.[1] ?? code;
}
