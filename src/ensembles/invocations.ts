import { randomUUID } from "node:crypto";
import { type DialectMessages, type DialectTools, toDialect } from "../adapters/dialects/built-in.ts";
import type { AskedBy } from "../facade/options.ts";
import { ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { nearest, showValue } from "../errors/show-value.ts";
import type { ToolCall } from "../execute/call.ts";
import type { ToolResult } from "../execute/result.ts";
import { toResultError } from "../execute/results/to-result-error.ts";
import { type Clock, systemClock } from "../observe/clock.ts";
import { resultOf } from "../serve/result-of.ts";
import { looselyMeant } from "../register/look-up.ts";
import { toAlias } from "../transcode/alias.ts";
import { neverRan } from "../transcode/answer-calls.ts";
import { convertSet } from "../transcode/convert-set.ts";
import type { AnsweredCall, Dialect } from "../transcode/dialect.port.ts";
import { referBack } from "./deduplicate.ts";
import type { Ensemble, Invoker } from "./ensemble.ts";
import { type Invocation, type InvocationResult, toFailure, toRecord, toTimestamp } from "./records.ts";

/** Tool calling in one provider's format, over ensembles. Writes definitions and results, and reads calls. */
export interface InvocationsProcessor<Definition = Record<string, unknown>, Message = Record<string, unknown>> {
  /**
   * Converts the tools that the caller may call to the provider's format, in the order of the ensembles. Each tool is named by its alias, such as
   * `io-read_file`, so tools with the same name in two ensembles stay apart. Throws INPUT_INVALID if two tools have the same alias, and
   * SOURCE_UNAVAILABLE if an ensemble is not connected.
   */
  prepareTools(ensembles: readonly Ensemble[], options?: PrepareToolsOptions): Promise<Definition[]>;
  /** Reads the calls in one answer of the provider, in the answer's order. Never throws: a call that cannot be read has a `problem`. */
  normalizeInvocations(message: unknown): Invocation[];
  /**
   * Runs invocations in parallel, under policy, and returns one result for each, in order. Tools outside the given ensembles are not found. Throws
   * only if `onFailure` is `throw`, after all calls have ended.
   */
  executeInvocations(
    invocations: readonly Invocation[],
    ensembles: readonly Ensemble[],
    options?: ExecuteInvocationsOptions,
  ): Promise<InvocationResult[]>;
  /** Converts results to the provider's messages, items, blocks or parts, to append to the conversation. */
  nativizeResults(results: readonly InvocationResult[]): Message[];
}

/** The caller for whom tools are prepared, and the options. */
export interface PrepareToolsOptions extends AskedBy {
  /** Uses the provider's strict mode for the tools that support it, within the limits of one request. */
  readonly strict?: boolean;
}

/** Options to run invocations. */
export interface ExecuteInvocationsOptions extends Pick<
  ToolCall,
  "principal" | "toolset" | "auxdata" | "signal" | "timeoutMs" | "deadline" | "traceId" | "cache"
> {
  /**
   * `return` (default): every failure is a result. `throw`: the first call that fails cancels the others and is thrown. Wrong arguments, timeouts and
   * calls that wait for approval are results in both modes.
   */
  readonly onFailure?: "return" | "throw";
  /**
   * The conversation's records so far. A new result that repeats the result of the same call becomes a reference. If omitted, every result is
   * included in full.
   */
  readonly earlier?: readonly object[];
}

/** The settings of a processor. */
export interface InvocationsProcessorOptions<Given> {
  /** A dialect, or the name of a built-in one. */
  readonly dialect: Given;
  /** Defaults to the system clock. */
  readonly clock?: Clock;
}

type DialectWithMessages = keyof DialectMessages;

/**
 * Creates a processor for one provider.
 *
 * @example
 * const processor = await createInvocationsProcessor({ dialect: "anthropic" });
 * const tools = await processor.prepareTools(ensembles);
 * const results = await processor.executeInvocations(processor.normalizeInvocations(message), ensembles);
 * messages.push(...processor.nativizeResults(results));
 */
export async function createInvocationsProcessor<Name extends DialectWithMessages>(
  options: InvocationsProcessorOptions<Name>,
): Promise<InvocationsProcessor<DialectTools[Name], DialectMessages[Name]>>;
export async function createInvocationsProcessor<Definition extends object, Message>(
  options: InvocationsProcessorOptions<Dialect<Definition, Message>>,
): Promise<InvocationsProcessor<Definition, Message>>;
export async function createInvocationsProcessor({
  dialect: given,
  clock = systemClock,
}: InvocationsProcessorOptions<DialectWithMessages | Dialect<object, unknown>>): Promise<
  InvocationsProcessor<object, unknown>
> {
  const dialect = await toDialect(given as Dialect | DialectWithMessages);
  const { limits } = dialect;
  return {
    async prepareTools(ensembles, { strict = false, ...by } = {}) {
      const away = ensembles.find(({ isConnected }) => !isConnected);
      if (away !== undefined) throw notConnected(away.name);
      const tools = Array.from((await invokersFor(ensembles, by, "callable")).values(), ({ tool }) => tool);
      const set = { strict, ...(limits === undefined ? {} : { limits }) };
      return convertSet(tools, dialect, set).map(({ definition }) => definition);
    },
    normalizeInvocations: (message) =>
      dialect.readCalls(message).map(({ id, idMadeUp, call, problem }) => ({
        // A made-up id is unique only within one answer, but a record needs a permanent id.
        ...(idMadeUp === true ? { id: `call_${randomUUID()}`, idMadeUp } : { id }),
        name: call.toolName,
        arguments: call.arguments ?? {},
        timestamp: toTimestamp(clock.now()),
        ...(problem !== undefined && { problem }),
      })),
    async executeInvocations(invocations, ensembles, { onFailure = "return", earlier, signal, ...call } = {}) {
      const invokers = await invokersFor(ensembles, call, "known");
      const stop = new AbortController();
      const stopped = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
      let failure: InvocationResult | undefined;

      async function execute(invocation: Invocation): Promise<InvocationResult> {
        const { name, problem, arguments: args } = invocation;
        if (problem !== undefined)
          return toFailure(invocation, { code: "ARGUMENTS_INVALID", message: problem }, clock.now());
        const invoker = findInvoker(name, invokers);
        if (invoker === undefined) return toFailure(invocation, notFound(name, [...invokers.keys()]), clock.now());
        try {
          return toRecord(invocation, invoker.tool, await resultOf(invoker.invoke(args, { ...call, signal: stopped })));
        } catch (error) {
          return toFailure(invocation, toResultError(error), clock.now());
        }
      }

      const results = await Promise.all(
        invocations.map(async (invocation) => {
          const result = await execute(invocation);
          if (onFailure === "throw" && failure === undefined && isFatal(result)) {
            failure = result;
            stop.abort(
              new ArsenalError("CANCELLED", `The call was cancelled because the call of ${result.name} failed.`),
            );
          }
          return result;
        }),
      );
      if (failure?.error === undefined)
        return earlier === undefined ? results : referBack(invocations, results, earlier);
      const { code, message } = failure.error;
      throw new ArsenalError(code, `The call of ${failure.name} failed: ${message}`, { cause: failure });
    },
    nativizeResults: (results) => [...dialect.writeResults(results.map(toAnswered))],
  };
}

/** Returns the invokers that a caller may see or call, by alias, in the order of their ensembles. */
async function invokersFor(
  ensembles: readonly Ensemble[],
  by: AskedBy,
  which: "known" | "callable",
): Promise<ReadonlyMap<string, Invoker>> {
  const { principal, toolset } = by;
  const asked = { ...(principal && { principal }), ...(toolset !== undefined && { toolset }) };
  const seen = await Promise.all(
    ensembles
      .flatMap(({ invokers }) => [...invokers.values()])
      .map(async (invoker) => {
        const { name, namespace } = invoker.tool;
        const tool = await invoker.ensemble.arsenal.getTool(name, namespace, asked);
        const { refused } = tool ?? {};
        const isOffered = which === "known" || refused === undefined || refused.listed === true;
        return tool !== undefined && isOffered ? invoker : undefined;
      }),
  );
  const byAlias = new Map<string, Invoker>();
  for (const invoker of seen) {
    if (invoker === undefined) continue;
    const alias = toAlias(invoker.tool.id);
    if (byAlias.has(alias)) throw sameAlias(alias);
    byAlias.set(alias, invoker);
  }
  return byAlias;
}

/** Finds an invoker by alias, by id, or by the bare name if only one of the ensembles has it. */
function findInvoker(name: string, invokers: ReadonlyMap<string, Invoker>): Invoker | undefined {
  const exact = invokers.get(name) ?? invokers.get(toAlias(name));
  if (exact !== undefined) return exact;
  const named = [...invokers.values()].filter(({ name: own, tool }) => own === name || tool.name === name);
  if (named.length > 0) return named.length === 1 ? named[0] : undefined;
  const all = [...invokers.values()];
  const meant = looselyMeant(
    name,
    all.map(({ tool }) => tool),
  );
  return all.find(({ tool }) => tool === meant);
}

function notFound(name: string, names: readonly string[]) {
  const near = nearest(name, names);
  const fix = near === undefined ? "Call one of the tools that you were given." : `Did you mean ${showValue(near)}?`;
  return { code: "TOOL_NOT_FOUND" as const, message: `There is no tool named ${showValue(name, 130)}. ${fix}` };
}

function sameAlias(alias: string): ArsenalError {
  const problem = `Two tools of these ensembles are named ${showValue(alias)}.`;
  const fix = "List each ensemble only once, and give ensembles of different arsenals different names.";
  return fixable("INPUT_INVALID", problem, fix, { field: "ensembles", value: alias });
}

/** True for a failure that the model cannot fix by calling again with other arguments. */
function isFatal({ error, confirmationId }: InvocationResult): boolean {
  if (error === undefined || confirmationId !== undefined) return false;
  return error.category !== "validation" && error.category !== "timeout";
}

/** Converts a record to the form that dialects write. The record already contains the text for each outcome. */
function toAnswered({ invocationId, idMadeUp, name, content, error, timestamp }: InvocationResult): AnsweredCall {
  const outcome = error === undefined ? { status: "success", result: content } : { status: "failure", error };
  return {
    read: {
      id: invocationId,
      ...(idMadeUp === true && { idMadeUp }),
      call: { toolName: name },
      ...(error !== undefined && { problem: String(content ?? error.message) }),
    },
    result: {
      ...(outcome as Pick<ToolResult, "status" | "result" | "error">),
      ...neverRan(name, Date.parse(timestamp)),
    },
  };
}

function notConnected(ensemble: string): ArsenalError {
  const problem = `The ensemble ${showValue(ensemble)} is not connected.`;
  return fixable("SOURCE_UNAVAILABLE", problem, "Call its connect() first.", { field: "ensembles", value: ensemble });
}
