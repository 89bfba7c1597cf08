import { showValue } from "../../errors/show-value.ts";
import type { Aegis } from "../../guard/aegis.ts";
import type { PolicyView } from "../../guard/policy.port.ts";
import type { Principal } from "../../guard/principal.ts";
import type { Registration } from "../../register/registry.ts";
import type { Handler } from "../../tool/handler.ts";
import type { Tool } from "../../tool/tool.ts";
import { nextTurn } from "../../base/turns/event-loop.ts";
import type { RunningEngine } from "../engine.ts";
import { cancelled, failed, type Outcome } from "../outcome.ts";
import type { ResultError } from "../result.ts";
import type { RunningCall } from "../running-call.ts";
import { readArguments } from "./validate-call.ts";
import { isSignal } from "../../tool/shape/check.ts";

export interface FindToolParts {
  /** Finds a tool by name. Tools that `sees` refuses do not exist for the search. Defaults to all tools. */
  readonly find: (
    name: string,
    options?: { readonly sees?: (tool: Tool) => boolean },
  ) => Registration | undefined | Promise<Registration | undefined>;
  readonly aegis: Aegis;
  /** Explains why a name was not found, using only tools that `sees` accepts. Called for unknown and hidden tools alike. */
  readonly explainMissing?: (name: string, sees: (tool: Tool) => boolean) => string | Promise<string>;
}

/** The called tool, and a copy of the arguments. */
export interface CalledTool {
  readonly tool: Tool;
  readonly handler: Handler | undefined;
  readonly given: Readonly<Record<string, unknown>>;
}

export async function findCalledTool(running: RunningCall, engine: RunningEngine): Promise<CalledTool | Outcome> {
  const { call, principal } = running;
  if (isSignal(call?.signal) && call.signal.aborted) return cancelled(String(call.toolName), call.signal);
  const { arguments: given, isLarge } = readArguments(call);
  running.isLarge = isLarge;
  const found = await findTool(call.toolName, principal, engine, call);
  if (isLarge) await nextTurn();
  running.audited = engine.audit?.describe(given);
  if (isLarge) await nextTurn();
  if ("error" in found) {
    running.hiddenId = found.hiddenId;
    return failed(found.error);
  }
  running.tool = found.tool;
  call.request?.onFound?.(found.tool);
  return { tool: found.tool, handler: found.handler, given };
}

/** Finds a tool by name for a principal. Returns undefined also if the principal may not see the tool. */
export async function findVisible(
  name: string,
  principal: Principal,
  parts: FindToolParts,
  through?: PolicyView,
): Promise<Registration | undefined> {
  const sees = (tool: Tool): boolean => parts.aegis.sees(tool, principal, through);
  const found = await parts.find(name, { sees });
  return found && sees(found.tool) ? found : undefined;
}

/** Finds a tool by name, as the principal sees the catalog. An unknown and a hidden tool cause the same error. */
export async function findTool(
  name: string,
  principal: Principal,
  parts: FindToolParts,
  through?: PolicyView,
): Promise<Registration | { readonly error: ResultError; readonly hiddenId: string | undefined }> {
  const visible = await findVisible(name, principal, parts, through);
  if (visible !== undefined) return visible;
  const fix = "Search for a tool that does the job, and call it by its id.";
  const message =
    (await parts.explainMissing?.(name, (tool) => parts.aegis.sees(tool, principal, through))) ??
    `There is no tool named ${showValue(name, 130)}. ${fix}`;
  const error: ResultError = { code: "TOOL_NOT_FOUND", message, field: "toolName", value: name, fix };
  return { error, hiddenId: (await parts.find(name))?.tool.id };
}
