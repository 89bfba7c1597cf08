import { isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Principal } from "../../guard/principal.ts";
import type { TraceContext } from "../../observe/trace-context.ts";
import { type Match, matchOf, PROBABLY_NONE } from "../../retrieve/fit/match.ts";
import { type Message, messageText } from "../../retrieve/query.ts";
import type { FoundSkill, RetrievalResult } from "../../retrieve/result.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ServedArsenal } from "../served-arsenal.ts";
import { sayConnecting, type Startup } from "../startup.ts";
import { type ShownTool, wantsSkills } from "./definitions.ts";
import { toObject } from "./repair-call.ts";
import { shownTool } from "./shown-tool.ts";

export interface MetaCaller {
  readonly principal: Principal;
  readonly signal: AbortSignal;
  readonly trace?: TraceContext;
}

/** The answer of `find_relevant_tools`: the nearest tools, ready to be called, and whether they fit. */
export interface FoundTools {
  readonly match: Match;
  readonly tools: readonly (ShownTool & { readonly score: number })[];
  /** Skills of servers, to be read as resources. Present if the model requested skills. */
  readonly skills?: readonly FoundSkill[];
  /** Servers whose tools cannot be found yet, because they are still connecting. */
  readonly connecting?: readonly string[];
  /** A suggestion for the model's next step. */
  readonly hint?: string;
}

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 50;

const NO_TOOLS = "No tool was found. Search again in other words, or tell the user.";

export type FindAnswer = { readonly kind: "found"; readonly found: FoundTools } | ReturnType<typeof invalid>;

const invalid = (message: string) => ({ kind: "invalid", message }) as const;

export async function findTools(
  given: unknown,
  { principal, signal, trace }: MetaCaller,
  { arsenal, startup }: { readonly arsenal: Pick<ServedArsenal, "retrieve">; readonly startup: Startup },
): Promise<FindAnswer> {
  const read = toObject(given) ?? {};
  const { query, limit, context } = read;
  if (typeof query !== "string" || query.trim() === "")
    return invalid(`query is ${showValue(query)}. Say in words what you are trying to accomplish.`);
  const most = toLimit(limit);
  if (most === undefined)
    return invalid(`limit is ${showValue(limit)}. Give a whole number from 1 to ${MAX_LIMIT}, or leave it out.`);
  const recentMessages = readMessages(context);
  if (recentMessages === undefined)
    return invalid(`context is ${showValue(context)}. Give the recent messages as text, or leave it out.`);
  await startup.wait(signal);
  try {
    const wanted = wantsSkills(read) && { includeSkills: true };
    const asked = {
      ...trace,
      context: { query, recentMessages },
      limit: most,
      principal,
      signal,
      ...wanted,
    };
    const result = await arsenal.retrieve({ ...asked, refuse: "never" });
    return { kind: "found", found: toFound(result, most, startup.shown()) };
  } catch (error) {
    if (isArsenalError(error) && (error.code === "QUERY_INVALID" || error.code === "RATE_LIMITED"))
      return invalid(error.message);
    throw error;
  }
}

function toFound(result: RetrievalResult, most: number, connecting: readonly string[]): FoundTools {
  // A tool below the score threshold may still be the nearest match.
  const tools = result.tools.length > 0 ? result.tools : (result.nearest ?? []).slice(0, most);
  const match = matchOf(tools, result.nothingFits);
  const hints = [
    match === "weak"
      ? `${PROBABLY_NONE}, or tell the user.`
      : match === "none" && connecting.length === 0
        ? NO_TOOLS
        : "",
    sayConnecting(connecting, "Their tools are not found yet: try again in a few seconds."),
  ].filter((hint) => hint !== "");
  return {
    match,
    tools: tools.map(({ tool, semanticScore }) => ({
      ...foundDefinition(tool),
      score: Math.round(semanticScore * 100) / 100,
    })),
    ...(result.skills && {
      skills: result.skills.map((skill) => ({ ...skill, score: Math.round(skill.score * 100) / 100 })),
    }),
    ...(connecting.length > 0 && { connecting }),
    ...(hints.length > 0 && { hint: hints.join(" ") }),
  };
}

/** Returns the definition that a model needs for a call. `$schema` is omitted: only programs need it, and it costs tokens. */
export function foundDefinition(tool: Tool): ShownTool {
  const { name, description, inputSchema: declared } = shownTool(tool);
  const { $schema: _, ...inputSchema } = declared;
  return { name, description, inputSchema };
}

/** Reads a limit. Models also write numbers as text, or null for no value. Undefined for other values and numbers outside the limits. */
function toLimit(given: unknown): number | undefined {
  if (given === undefined || given === null) return DEFAULT_LIMIT;
  const number = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
  if (typeof number !== "number" || Number.isNaN(number)) return undefined;
  return Math.min(Math.max(Math.trunc(number), 1), MAX_LIMIT);
}

/** Maximum number of messages in a query. */
const MOST_MESSAGES = 10;
/** In characters. Of a longer text, only the end is read, because it is the latest part. */
const READ_LENGTH = 20_000;
/** Matches the speaker of a line in a transcript: `user: …`. */
const SPEAKER = /^(user|human|assistant|ai|model|system|tool):\s*/i;

/**
 * Reads the recent messages of a conversation, oldest first, in the forms that models use: a transcript, a list of strings, or a list of messages. A
 * line of a transcript without a speaker belongs to the previous line. Undefined for other values.
 */
function readMessages(given: unknown): readonly Message[] | undefined {
  if (given === undefined || given === null) return [];
  if (typeof given === "string") return toTurns(given.slice(-READ_LENGTH).split("\n")).slice(-MOST_MESSAGES);
  if (!Array.isArray(given)) return undefined;
  const messages = given.slice(-MOST_MESSAGES).map(toMessage);
  return messages.includes(undefined) ? undefined : messages.filter((message) => message !== undefined);
}

function toTurns(lines: readonly string[]): readonly Message[] {
  const turns: Message[] = [];
  let isTranscript = false;
  for (const line of lines) {
    if (line.trim() === "") continue;
    const before = turns.at(-1);
    const begins = SPEAKER.test(line);
    if (isTranscript && !begins && before !== undefined)
      turns[turns.length - 1] = { ...before, content: `${String(before.content)}\n${line}` };
    else turns.push(fromText(line));
    isTranscript ||= begins;
  }
  return turns;
}

function fromText(text: string): Message {
  const [spoken, speaker = "user"] = SPEAKER.exec(text) ?? [""];
  return { role: speaker.toLowerCase(), content: text.slice(spoken.length, READ_LENGTH) };
}

function toMessage(given: unknown): Message | undefined {
  if (typeof given === "string") return fromText(given);
  if (!isPlainObject(given)) return undefined;
  const { role, content } = given;
  if (typeof content !== "string" && !Array.isArray(content)) return undefined;
  const text = messageText({ role: "", content }).slice(0, READ_LENGTH);
  return { role: typeof role === "string" ? role : "user", content: text };
}
