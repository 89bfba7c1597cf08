import type { AgentArsenal } from "../agent/offer-tools.ts";
import type { ObjectSchema } from "../adapters/dialects/parts/definitions.ts";
import { toArguments } from "./call-arguments.ts";
import { createOffers, type IntegrationOptions } from "./offers.ts";

export type { IntegrationOptions } from "./offers.ts";

/** Options of the functions and their executor. AutoGen runs in another process, so there is no request context. */
export type AutogenOptions = Omit<IntegrationOptions<undefined>, "approver">;

/** A function as AutoGen gives it to a model. */
export interface AutogenFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
}

/** AutoGen's `FunctionCall`. */
export interface AutogenCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it, or an object. */
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

/** AutoGen's `FunctionExecutionResult`. */
export interface AutogenResult {
  readonly name: string;
  readonly call_id: string;
  readonly content: string;
  readonly is_error: boolean;
}

/**
 * Finds the functions for a query.
 *
 * @example
 * const functions = await toAutogenFunctions(arsenal, "refund an order", { principal, limit: 5 });
 */
export async function toAutogenFunctions(
  arsenal: AgentArsenal,
  query: string,
  options: AutogenOptions,
): Promise<AutogenFunction[]> {
  const conversation = [{ role: "user", text: query }] as const;
  const tools = await createOffers(arsenal, options).forTurn({ conversation, context: undefined });
  return tools.map(({ name, description, inputSchema: parameters }) => ({ name, description, parameters }));
}

/**
 * Creates the callback that runs a model's calls through the arsenal. It never rejects: a failed, denied or waiting call is a result with `is_error`.
 *
 * @example
 * const execute = createAutogenExecutor(arsenal, { principal });
 * const result = await execute({ id: "call_1", name: "billing-refund_user", arguments: '{"order":"1042"}' });
 */
export function createAutogenExecutor(
  arsenal: AgentArsenal,
  options: AutogenOptions,
): (call: AutogenCall, options?: { readonly signal?: AbortSignal }) => Promise<AutogenResult> {
  const offers = createOffers(arsenal, options);
  return async ({ id, name, arguments: given }, { signal } = {}) => {
    const result = (content: string, is_error: boolean): AutogenResult => ({ name, call_id: id, content, is_error });
    const tool = await offers.named(name, undefined);
    if (tool === undefined)
      return result(`There is no function ${name}. Call one of the functions that you have.`, true);
    const args = toArguments(given);
    if (args === undefined) return result(`The arguments of ${name} are not JSON. Write one JSON object.`, true);
    const outcome = await tool.run(args, { callId: id, signal });
    return result(outcome.text, outcome.kind !== "ok");
  };
}
