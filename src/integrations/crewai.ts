import type { AgentArsenal } from "../agent/offer-tools.ts";
import type { ObjectSchema } from "../adapters/dialects/parts/definitions.ts";
import { createOffers, type IntegrationOptions } from "./offers.ts";

export type { IntegrationOptions } from "./offers.ts";

/** Options of the tools and of their executor. CrewAI runs in another process, so there is no request context. */
export type CrewaiOptions = Omit<IntegrationOptions<undefined>, "approver">;

/** The members of CrewAI's `BaseTool` that a model sees. */
export interface CrewaiTool {
  readonly name: string;
  readonly description: string;
  /** The parameters as JSON Schema. Python converts them to a model. */
  readonly args_schema: ObjectSchema;
}

/**
 * Finds the tools for the description of a task.
 *
 * @example
 * const tools = await toCrewaiTools(arsenal, "refund an order", { principal, limit: 5 });
 */
export async function toCrewaiTools(
  arsenal: AgentArsenal,
  query: string,
  options: CrewaiOptions,
): Promise<CrewaiTool[]> {
  const conversation = [{ role: "user", text: query }] as const;
  const tools = await createOffers(arsenal, options).forTurn({ conversation, context: undefined });
  return tools.map(({ name, description, inputSchema: args_schema }) => ({ name, description, args_schema }));
}

/**
 * Creates the callback behind `_run`. It never rejects: CrewAI's tools return text, so a failed, denied or waiting call is a text that starts with
 * `Error:`.
 *
 * @example
 * const run = createCrewaiExecutor(arsenal, { principal });
 * const text = await run("billing-refund_user", { order: "1042" });
 */
export function createCrewaiExecutor(
  arsenal: AgentArsenal,
  options: CrewaiOptions,
): (
  name: string,
  args: Readonly<Record<string, unknown>>,
  options?: { readonly signal?: AbortSignal },
) => Promise<string> {
  const offers = createOffers(arsenal, options);
  return async (name, args, { signal } = {}) => {
    const tool = await offers.named(name, undefined);
    if (tool === undefined) return `Error: There is no tool ${name}. Use one of the tools that you have.`;
    const outcome = await tool.run(args, { signal });
    return outcome.kind === "ok" ? outcome.text : `Error: ${outcome.text}`;
  };
}
