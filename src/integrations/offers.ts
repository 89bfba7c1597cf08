import { aiSdkDialect } from "../adapters/dialects/ai-sdk.ts";
import type { ObjectSchema } from "../adapters/dialects/parts/definitions.ts";
import { FIND_TOOLS_TOOL, findTools as searchTools } from "../agent/find-tools.ts";
import { type AgentArsenal, type OfferSettings, offerTools, placesFor, sentTools } from "../agent/offer-tools.ts";
import { internalsOf, ToolArsenal } from "../arsenal.ts";
import { present } from "../base/present.ts";
import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import { statusOf, toResultError } from "../execute/results/to-result-error.ts";
import { createTraceIds } from "../execute/trace-ids.ts";
import type { MarkedTool } from "../guard/policy.port.ts";
import type { Principal } from "../guard/principal.ts";
import { systemClock } from "../observe/clock.ts";
import type { Progress } from "../tool/handler.ts";
import { DEFAULT_NAMESPACE } from "../tool/limits.ts";
import { divideId, type Tool } from "../tool/tool.ts";
import { fromAlias } from "../transcode/alias.ts";
import { type ConversationMessage, openCallsIn, requestIn, toAgentMessages } from "./conversation.ts";
import { type Arguments, type CallOutcome, toOutcome } from "./outcome.ts";

/** The options of every integration. `Context` is the framework's request context. */
export interface IntegrationOptions<Context = unknown> {
  /** The most tools in one turn of the model, 1 to 50. Defaults to 8. */
  readonly limit?: number;
  /** Excludes tools with a lower semantic score, 0 to 1. By default, the limit is filled, unless nothing fits. */
  readonly scoreThreshold?: number;
  /** Ids or names of tools for every turn, if the caller may see them. */
  readonly pinned?: readonly string[];
  /** Whether the model gets `find_tools`, a tool that searches again. It counts towards `limit`. Defaults to true. */
  readonly findTools?: boolean;
  /** The toolset to search and call through. Defaults to the whole catalog. */
  readonly toolset?: string;
  /**
   * The caller of the tools, or a function that reads the caller from the framework's request context. Required, except with a client of a gateway,
   * whose credentials identify the caller.
   */
  readonly principal?: Principal | ((context: Context) => Principal | Promise<Principal>);
  /**
   * The person who answers the framework's approval questions. Needs the role `approver`, and must not be the caller. By default, an answer in the
   * framework only continues the run. The approval itself is then given in the arsenal: in the dashboard, on the command line or over REST.
   */
  readonly approver?: Principal | ((context: Context) => Principal | undefined | Promise<Principal | undefined>);
  /** The most characters of one result. Defaults to 100,000. */
  readonly maxResultLength?: number;
  /** Called with the progress of every call, even in frameworks that do not show progress. */
  readonly onProgress?: (update: Progress, call: { readonly toolName: string; readonly callId?: string }) => void;
}

/** An arsenal that also lists its tools, for frameworks that need every tool in advance: a `ToolArsenal`, a client, or a runner. */
export interface ListedArsenal extends AgentArsenal {
  listTools(options: OfferSettings["by"]): Promise<readonly MarkedTool[]>;
}

/** A tool for one turn of a model, before conversion to a framework's format. */
export interface ModelTool<Context = unknown> {
  /** The name for the model: at most 64 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type `object`. */
  readonly inputSchema: ObjectSchema;
  readonly tool: Tool;
  /** Returns whether the call would wait for a person. Runs nothing. With a client or a runner, only the tool's own `requiresConfirmation` is known. */
  needsApproval(args: unknown, options?: Pick<CallOptions<Context>, "context">): Promise<boolean>;
  /**
   * Asks Aegis for a decision about the call, and requests an approval if the call needs one. Runs nothing and uses up no approval. With a client or
   * a runner, the decision is always `allow`; the call itself is then refused.
   */
  ask(args: unknown, options?: Pick<CallOptions<Context>, "context">): Promise<CallDecision>;
  /** Runs the call through `execute`. Never rejects. */
  run(args: unknown, options?: CallOptions<Context>): Promise<CallOutcome>;
}

/** The decision of Aegis about a call that has not been made. */
export type CallDecision =
  | { readonly effect: "allow" }
  | { readonly effect: "deny"; readonly text: string }
  | { readonly effect: "confirm"; readonly confirmationId: string; readonly reason: string; readonly text: string };

/** Options of one call. */
export interface CallOptions<Context = unknown> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((update: Progress) => void) | undefined;
  /** The model's id of the call. */
  readonly callId?: string | undefined;
  /** The framework's request context. Defaults to the turn's context. */
  readonly context?: Context | undefined;
  /** The answer of the person whom the framework prompted. If omitted, a call that needs approval waits. */
  readonly answer?: "approve" | "deny" | undefined;
}

/** One turn of a model. */
export interface TurnRequest<Context = unknown> {
  /** Oldest first. */
  readonly conversation: readonly ConversationMessage[];
  readonly context: Context;
  readonly signal?: AbortSignal | undefined;
}

/** The tools of an arsenal for the turns of a model. */
export interface Offers<Context = unknown> {
  /** The most tools of one turn. */
  readonly limit: number;
  /** Returns the tools for the model's next turn, at most `limit`. Includes the tools of calls that still wait. */
  forTurn(request: TurnRequest<Context>): Promise<readonly ModelTool<Context>[]>;
  /** Returns a tool by the name that the model uses; undefined if the caller may see no such tool. */
  named(name: string, context: Context): Promise<ModelTool<Context> | undefined>;
  /** Returns every tool that the caller may call, and `find_tools`. */
  all(listed: ListedArsenal, context: Context): Promise<readonly ModelTool<Context>[]>;
}

const traceIds = createTraceIds();

/** Creates the offers of an integration, which implement everything except the framework's format. Throws INPUT_INVALID without a principal. */
export function createOffers<Context>(arsenal: AgentArsenal, options: IntegrationOptions<Context>): Offers<Context> {
  const settings = checked(arsenal, options);
  const { maxResultLength = 100_000, toolset, principal, approver } = options;
  const dialect = aiSdkDialect();

  async function callerIn(context: Context): Promise<OfferSettings["by"]> {
    const caller = typeof principal === "function" ? await principal(context) : principal;
    if (caller === undefined && arsenal.remote !== true) throw noPrincipal("returned by options.principal");
    return present({ principal: caller, toolset });
  }

  function toModelTool(tool: Tool, turn: { readonly context: Context; readonly traceId: string }): ModelTool<Context> {
    const { name, description, inputSchema } = dialect.fromCanonical(tool);
    const definition = { name, description, inputSchema, tool };
    const { traceId } = turn;
    if (tool === FIND_TOOLS_TOOL)
      return {
        ...definition,
        needsApproval: async () => false,
        ask: async () => ({ effect: "allow" }),
        run: (args, { context = turn.context, signal } = {}) =>
          settled(tool, args, async () => {
            const limit = placesFor(settings) - settings.pinned.length;
            const by = await callerIn(context);
            const found = await searchTools(arsenal, args, { by, limit, traceId, ...present({ signal }) });
            return { ...unrun(tool, traceId), status: "success", result: found };
          }),
      };

    async function callOf(args: unknown, context: Context) {
      return { toolName: tool.id, arguments: args as Arguments, ...(await callerIn(context)), traceId };
    }

    return {
      ...definition,
      async needsApproval(args, { context = turn.context } = {}) {
        if (!(arsenal instanceof ToolArsenal)) return tool.requiresConfirmation;
        return internalsOf(arsenal).needsApproval(await callOf(args, context));
      },
      async ask(args, { context = turn.context } = {}) {
        if (!(arsenal instanceof ToolArsenal)) return { effect: "allow" };
        const stopped = await internalsOf(arsenal).ask(await callOf(args, context));
        const outcome = stopped && toOutcome(stopped, args, maxResultLength);
        if (outcome?.kind === "waiting") return { ...outcome, effect: "confirm" };
        return outcome?.kind === "denied" ? { ...outcome, effect: "deny" } : { effect: "allow" };
      },
      run: (args, { context = turn.context, answer, signal, callId, onProgress } = {}) =>
        settled(tool, args, async () => {
          const report = (update: Progress): void => {
            onProgress?.(update);
            options.onProgress?.(update, { toolName: name, ...present({ callId }) });
          };
          const call = { ...(await callOf(args, context)), ...present({ signal, callId }), onProgress: report };
          const result = await arsenal.execute(call);
          const { status, confirmationId } = result;
          if (status !== "pending_confirmation" || confirmationId === undefined || answer === undefined) return result;
          return await answered(call, { result, confirmationId, answer, context });
        }),
    };
  }

  /** Passes on a person's answer, and makes the call if it was approved. */
  async function answered(
    call: ToolCall,
    { result, confirmationId, answer, context }: PersonAnswer<Context>,
  ): Promise<ToolResult> {
    if (!(arsenal instanceof ToolArsenal)) return result;
    const person = typeof approver === "function" ? await approver(context) : approver;
    if (answer === "approve") {
      if (person === undefined) return result;
      await arsenal.approvals.approve(confirmationId, person);
      return arsenal.execute({ ...call, confirmationId });
    }
    const by = person ?? call.principal;
    if (by !== undefined) await arsenal.approvals.deny(confirmationId, by);
    const error = { code: "APPROVAL_INVALID", message: "A person denied this call. It did not run." } as const;
    return { ...result, status: "permission_denied", error };
  }

  /** Returns the outcome of a call. A thrown error also becomes an outcome, because it would end the run in most frameworks. */
  async function settled(tool: Tool, args: unknown, run: () => Promise<ToolResult>): Promise<CallOutcome> {
    const result = await run().catch((thrown: unknown): ToolResult => {
      const error = toResultError(thrown);
      return { ...unrun(tool, ""), status: statusOf(error.code), error };
    });
    return toOutcome(result, args, maxResultLength);
  }

  return {
    limit: settings.limit,
    async forTurn({ conversation, context, signal = new AbortController().signal }) {
      const by = await callerIn(context);
      const traceId = traceIds.traceId();
      const waiting = openCallsIn(conversation).flatMap((name) => fromAlias(name) ?? []);
      const pinned = [...new Set([...waiting, ...settings.pinned])];
      const request = { request: requestIn(conversation), messages: toAgentMessages(conversation), traceId, signal };
      const turn = { ...settings, by, pinned: pinned.slice(0, settings.limit) };
      const offers = await offerTools(arsenal, turn, request);
      return sentTools(offers, turn).map((tool) => toModelTool(tool, { context, traceId }));
    },
    async named(name, context) {
      const turn = { context, traceId: traceIds.traceId() };
      if (name === FIND_TOOLS_TOOL.name && settings.findTools) return toModelTool(FIND_TOOLS_TOOL, turn);
      const { name: own, namespace } = divideId(fromAlias(name) ?? name);
      const tool = await arsenal.getTool(own, namespace || DEFAULT_NAMESPACE, await callerIn(context));
      return tool === undefined || tool.refused !== undefined ? undefined : toModelTool(tool, turn);
    },
    async all(listed, context) {
      const turn = { context, traceId: traceIds.traceId() };
      const tools = await listed.listTools(await callerIn(context));
      const others = tools.filter(({ id }) => !settings.findTools || id !== FIND_TOOLS_TOOL.id);
      return [...others, ...(settings.findTools ? [FIND_TOOLS_TOOL] : [])].map((tool) => toModelTool(tool, turn));
    },
  };
}

interface PersonAnswer<Context> {
  readonly result: ToolResult;
  readonly confirmationId: string;
  readonly answer: "approve" | "deny";
  readonly context: Context;
}

function unrun({ id, name }: Tool, traceId: string): Omit<ToolResult, "status"> {
  const now = systemClock.now();
  const times = { queuedAt: now, completedAt: now, latencyMs: 0 };
  return { toolName: name, toolId: id, ...times, attempts: 0, traceId, spanId: "" };
}

function checked<Context>(arsenal: AgentArsenal, options: IntegrationOptions<Context>): Omit<OfferSettings, "by"> {
  const { limit = 8, pinned = [], findTools = true, scoreThreshold, principal } = options;
  if (typeof arsenal?.retrieve !== "function")
    throw wrong("arsenal", arsenal, "is not an arsenal", "Pass a ToolArsenal, a client, or a runner of a toolset.");
  if (principal === undefined && arsenal.remote !== true) throw noPrincipal("in the options");
  if (!Number.isInteger(limit) || limit < 1 || limit > 50)
    throw wrong("limit", limit, "must be a whole number, 1 to 50", "Give a whole number, 1 to 50.");
  if (pinned.length > limit)
    throw wrong("pinned", pinned, `has more tools than limit ${limit}`, "Pin fewer tools, or raise limit.");
  return { limit, pinned, findTools, ...present({ scoreThreshold }) };
}

function wrong(field: string, value: unknown, problem: string, fix: string) {
  const details = { field, value };
  return fixable("INPUT_INVALID", `The integration's ${field} ${problem}: ${showValue(value)}.`, fix, details);
}

function noPrincipal(where: string) {
  const fix =
    'Pass principal: createPrincipal({ id: "agent", scopes: [...], capabilities: [...] }), or a function that reads it from the request context.';
  return fixable("INPUT_INVALID", `The integration has no principal ${where}.`, fix, { field: "principal" });
}
