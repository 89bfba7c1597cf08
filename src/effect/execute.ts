import { present } from "../base/present.ts";
import { Cause, Clock, Effect, Exit } from "effect";
import type { ToolArsenal } from "../arsenal.ts";
import type { AskedBy } from "../facade/options.ts";
import { isArsenalError } from "../errors/arsenal-error.ts";
import type { ToolCall } from "../execute/call.ts";
import type { ResultError, ToolResult } from "../execute/result.ts";
import { toResultError } from "../execute/results/to-result-error.ts";
import type { Principal } from "../guard/principal.ts";
import type { Tool } from "../tool/tool.ts";
import { nameOf } from "./definitions.ts";
import { ToolAuthorizationError } from "./errors.ts";
import type { EventBus } from "./event-bus.ts";
import { findTool } from "./find-tool.ts";
import type { IdentityService } from "./identity-service.ts";
import type { CallerContext } from "./run-handler.ts";
import type { ToolInput, ToolOutput } from "./schemas.ts";
import { type CallError, isMissing, toToolError } from "./to-tool-error.ts";

export interface ExecuteParts {
  readonly arsenal: ToolArsenal;
  readonly events: EventBus["Service"];
  readonly identity: IdentityService["Service"];
  readonly callers: CallerContext;
  readonly principalOf: (agentId: string) => Effect.Effect<Principal, unknown>;
  readonly namesFor: (by: AskedBy) => Effect.Effect<readonly string[]>;
  readonly timeoutOf: (tool: Tool) => number;
}

type Execute = (input: ToolInput) => Effect.Effect<ToolOutput, CallError>;

/** The parent of the arsenal's own spans. Empty if tracing is off. */
const currentTrace: Effect.Effect<Pick<ToolCall, "traceId" | "parentSpanId">> = Effect.match(Effect.currentSpan, {
  onFailure: () => ({}),
  onSuccess: ({ traceId, spanId }) => (/^[0-9a-f]{32}$/.test(traceId) ? { traceId, parentSpanId: spanId } : {}),
});

/** Runs calls: finds the tool, authorizes the agent, executes the call through the arsenal, then audits and publishes the outcome. */
export function makeExecute(parts: ExecuteParts): Execute {
  const { arsenal, identity, callers, principalOf, namesFor, timeoutOf } = parts;

  const authorize = (input: ToolInput, name: string): Effect.Effect<void, ToolAuthorizationError> =>
    Effect.mapError(identity.authorize(input.agentId, `tools/${name}`, "execute"), (cause) => denied(input, cause));

  /** Runs the call in the context of this fiber. Interrupting it cancels the call and waits until it has ended. */
  const run = (call: ToolCall): Effect.Effect<ToolResult, unknown> =>
    Effect.contextWith((context) => {
      const controller = new AbortController();
      const running = callers.run(context, () => arsenal.execute({ ...call, signal: controller.signal }));
      const ended = Effect.tryPromise({ try: () => running, catch: (error) => error });
      return Effect.onInterrupt(ended, () => Effect.suspend(() => (controller.abort(), Effect.ignore(ended))));
    });

  const call = (input: ToolInput): Effect.Effect<Omit<ToolOutput, "executionTimeMs">, CallError> =>
    Effect.gen(function* () {
      const { toolName, agentId, sessionId, correlationId, confirmationId, toolset } = input;
      const principal = yield* Effect.mapError(principalOf(agentId), (cause) => denied(input, cause));
      const by: AskedBy = { principal, ...(toolset !== undefined && { toolset }) };
      const failWith = (result: Pick<ToolResult, "status" | "error" | "confirmationId">, tool?: Tool) =>
        Effect.gen(function* () {
          const names = isMissing(result) ? yield* namesFor(by) : [];
          const timeoutMs = tool === undefined ? 0 : timeoutOf(tool);
          return yield* Effect.fail(toToolError(result, { input, tool, timeoutMs, availableTools: names }));
        });
      const thrown = (error: unknown) => failWith({ status: "failure", error: toResultError(error) });

      const tool = yield* findTool(arsenal, toolName, by).pipe(Effect.catch(thrown));
      // Hides whether a tool exists if the agent may not see it.
      const hide = (error: CallError) =>
        tool === undefined ? failWith({ status: "failure", error: notFound(toolName) }) : Effect.fail(error);
      yield* authorize(input, tool === undefined ? toolName : nameOf(tool)).pipe(Effect.catch(hide));
      const result = yield* run({
        // By id, so that the tool that runs is the one that was authorized. A tool that appeared after that needs approval.
        toolName: tool?.id ?? toolName,
        ...(tool === undefined && { requireConfirmation: true }),
        arguments: input.arguments,
        principal,
        auxdata: { agentId, sessionId, ...(correlationId !== undefined && { correlationId }) },
        ...present({ confirmationId, toolset }),
        ...(yield* currentTrace),
      }).pipe(Effect.catch(thrown));
      const { toolId, status, traceId, spanId, attempts, replayed, cached } = result;
      yield* Effect.annotateCurrentSpan({ "tool.status": status, "tool.attempts": attempts, "tool.span_id": spanId });
      if (toolId !== undefined) yield* Effect.annotateCurrentSpan("tool.id", toolId);
      if (status !== "success") return yield* failWith(result, tool);
      return {
        toolName,
        success: true,
        result: result.result,
        metadata: { toolId, traceId, spanId, attempts, ...(replayed && { replayed }), ...(cached && { cached }) },
      };
    });

  return (input) =>
    Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis;
      const elapsed = Effect.map(Clock.currentTimeMillis, (now) => now - started);
      return yield* Effect.all({ output: call(input), executionTimeMs: elapsed }).pipe(
        Effect.map(({ output, executionTimeMs }) => ({ ...output, executionTimeMs })),
        Effect.onExit((exit) => Effect.flatMap(elapsed, (elapsedMs) => report(parts, input, exit, elapsedMs))),
      );
    }).pipe(
      Effect.withSpan("tool.execute", {
        attributes: { "tool.name": input.toolName, "agent.id": input.agentId, "session.id": input.sessionId },
      }),
    );
}

/** Reports the outcome of a call to the audit log and the event bus. A failed report does not fail the call. */
function report(
  { identity, events }: Pick<ExecuteParts, "identity" | "events">,
  { toolName, agentId, sessionId, correlationId }: ToolInput,
  exit: Exit.Exit<ToolOutput, CallError>,
  elapsedMs: number,
): Effect.Effect<void> {
  return Effect.gen(function* () {
    const durationMs = Exit.isSuccess(exit) ? exit.value.executionTimeMs : elapsedMs;
    const failed = Exit.isFailure(exit) ? toFailure(exit.cause) : undefined;
    const isDenied = failed?.error === "ToolAuthorizationError" || failed?.error === "ToolNotFoundError";
    const entry = { agentId, sessionId, action: "tool.execute", resource: `tools/${toolName}` } as const;
    const result = failed === undefined ? "success" : isDenied ? "denied" : "failure";
    yield* Effect.exit(identity.audit({ ...entry, result, durationMs, metadata: { correlationId } }));
    const payload = { toolName, executionTimeMs: durationMs };
    yield* Effect.exit(
      events.publish(
        failed === undefined
          ? { type: "tools.executed", payload: { ...payload, success: true } }
          : { type: "tools.failed", payload: { ...payload, success: false, ...failed } },
      ),
    );
  });
}

function toFailure(cause: Cause.Cause<CallError>): { readonly error: string; readonly message: string } {
  if (Cause.hasInterruptsOnly(cause)) return { error: "Interrupted", message: "The call was interrupted." };
  const thrown = Cause.squash(cause) as CallError;
  return { error: thrown._tag ?? "Defect", message: String(thrown.message ?? thrown) };
}

function notFound(toolName: string): ResultError {
  return { code: "TOOL_NOT_FOUND", message: `Tool "${toolName}" not found. Use one of availableTools.` };
}

function denied({ agentId, toolName }: ToolInput, cause: unknown): ToolAuthorizationError {
  return new ToolAuthorizationError({
    message: `Agent ${agentId} is not authorized to execute tool "${toolName}".`,
    toolName,
    agentId,
    code: isArsenalError(cause) ? cause.code : "PERMISSION_DENIED",
    cause,
  });
}
