import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import { messageOf, showValue } from "../errors/show-value.ts";
import type { Emit } from "../observe/events.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDraft } from "../tool/draft.ts";
import type { Handler } from "../tool/handler.ts";
import { createPauses } from "../base/turns/event-loop.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import { isStandardSchema } from "../tool/schema/parameters.ts";
import type { Tool } from "../tool/tool.ts";
import { fromFunction, type FunctionDefinition } from "./from-function.ts";
import type { RefusedRegistration, Registration } from "./registry.ts";
import { asOwnedByCode, ofTenant } from "./owner.ts";

type Awaitable<Value> = Value | Promise<Value>;

/** One tool of a batch and its handler. Validated at run time. */
export interface BatchRegistration {
  readonly tool: ToolDraft | FunctionDefinition;
  readonly handler?: Handler;
}

/** The result of a batch. Each list is in the order of the batch. */
export interface RegisteredBatch {
  readonly registered: readonly Tool[];
  readonly rejected: readonly RejectedTool[];
}

export interface RejectedTool {
  /** Its index in the batch, from 0. */
  readonly index: number;
  readonly name: string;
  readonly error: ArsenalError;
}

/** Registers many tools, for a tenant if given. Invalid tools are reported; the others are registered. */
export async function registerBatch(
  registry: { add(entries: readonly Registration[]): Awaitable<readonly RefusedRegistration[]> },
  batch: readonly BatchRegistration[],
  emit: Emit,
  tenant?: string,
): Promise<RegisteredBatch> {
  if (!Array.isArray(batch)) {
    const fix = "Give an array of { tool, handler }.";
    throw fixable("TOOL_INVALID", `The batch is ${showValue(batch)}.`, fix, { value: batch });
  }
  const registrations: Registration[] = [];
  const places = new Map<Tool, number>();
  const rejected: RejectedTool[] = [];
  const pause = createPauses();
  for (const [index, entry] of batch.entries()) {
    const pausing = pause();
    if (pausing !== undefined) await pausing;
    try {
      const read = toRegistration(entry);
      const registration = tenant === undefined ? read : { ...read, tool: ofTenant(read.tool, tenant) };
      registrations.push(registration);
      places.set(registration.tool, index);
    } catch (cause) {
      const name = nameOf(entry);
      const error = isArsenalError(cause)
        ? cause
        : new ArsenalError("TOOL_INVALID", `The definition cannot be read: ${messageOf(cause)}`, { cause });
      rejected.push({ index, name, error });
      emit("tool-rejected", { name, code: error.code, message: error.message });
    }
  }
  const refused = new Set<Tool>();
  for (const { tool, error } of await registry.add(registrations)) {
    refused.add(tool);
    rejected.push({ index: places.get(tool) ?? 0, name: tool.name, error });
  }
  rejected.sort((one, other) => one.index - other.index);
  return { registered: registrations.flatMap(({ tool }) => (refused.has(tool) ? [] : [tool])), rejected };
}

function toRegistration(entry: unknown): Registration {
  if (!isPlainObject(entry)) {
    const fix = "Write { tool: { name, description, parameters }, handler }.";
    throw fixable("TOOL_INVALID", `An entry of the batch is ${showValue(entry)}.`, fix, { value: entry });
  }
  const { tool, handler } = entry;
  if (handler !== undefined && typeof handler !== "function") {
    const fix = "Pass the function that runs the tool, or leave handler out.";
    const problem = `The handler of ${showValue(nameOf(entry))} is ${showValue(handler)}, not a function.`;
    throw fixable("TOOL_INVALID", problem, fix, { field: "handler", value: handler });
  }
  const run = handler as Handler | undefined;
  if (run && isPlainObject(tool) && (isStandardSchema(tool["parameters"]) || tool["name"] === undefined))
    return inCode(fromFunction(tool as unknown as FunctionDefinition, run as Handler<unknown>));
  const defined = defineTool(tool as ToolDraft);
  return run ? inCode({ tool: defined, handler: run }) : { tool: defined };
}

const inCode = ({ tool, ...rest }: Registration): Registration => ({ ...rest, tool: asOwnedByCode(tool) });

/** Returns the name of an entry that was rejected, possibly because reading it throws. */
function nameOf(entry: unknown): string {
  try {
    const tool = isPlainObject(entry) ? entry["tool"] : undefined;
    const name = isPlainObject(tool) ? tool["name"] : undefined;
    return typeof name === "string" ? name : "";
  } catch {
    return "";
  }
}
