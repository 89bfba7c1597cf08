import type { ActionContext, GenerateMiddlewareDef, JSONSchema7, MessageData, MiddlewareRef, ToolAction } from "genkit";
import type { AgentArsenal } from "../agent/offer-tools.ts";
import { asRecord } from "../tool/json-schema.ts";
import type { Progress } from "../tool/handler.ts";
import { toAnswer } from "./answer.ts";
import type { ConversationMessage } from "./conversation.ts";
import { importFramework } from "./library.ts";
import { createOffers, type IntegrationOptions, type ModelTool } from "./offers.ts";

export type { IntegrationOptions } from "./offers.ts";

const { generateMiddleware, tool: dynamicTool } = await importFramework(
  "genkit",
  "npm install genkit",
  () => import("genkit"),
);

/** Options of the middleware. `principal` and `approver` may read the `context` of the `generate` call. */
export type GenkitOptions = IntegrationOptions<ActionContext>;

/** Gives each middleware a unique name, because Genkit runs only the first of two with the same name. */
let count = 0;

/**
 * Creates a middleware that chooses the tools of every turn of `generate` and runs them through the arsenal.
 *
 * @example
 * await ai.generate({ prompt, use: [arsenalMiddleware(arsenal, { principal })], context: { auth } });
 */
export function arsenalMiddleware(arsenal: AgentArsenal, options: GenkitOptions): MiddlewareRef {
  const offers = createOffers(arsenal, options);
  count += 1;
  const middleware = generateMiddleware({ name: `toolarsenal-${count}` }, ({ ai }): GenerateMiddlewareDef => {
    const ours = new WeakSet<object>();
    return {
      async generate(envelope, run, next) {
        const { request } = envelope;
        const context = run.context ?? ai.currentContext() ?? {};
        const { abortSignal: signal, onChunk } = run;
        const conversation = toConversation(request.messages);
        const tools = await offers.forTurn({ conversation, context, signal });
        const report = (name: string, ref: string | undefined, progress: Progress): void =>
          onChunk?.({ role: "tool", content: [], custom: { toolProgress: { name, ref, ...progress } } });
        const actions = tools.map((tool) => toAction(tool, { signal, report }));
        for (const action of actions) ours.add(action);
        // The request of a later turn still contains the tools of the previous turn. Genkit accepts actions as well as names, although its type
        // allows only names.
        const others = (request.tools ?? []).filter((tool: unknown) => !(typeof tool === "function" && ours.has(tool)));
        const offered = [...others, ...(actions as unknown[] as string[])];
        return next({ ...envelope, request: { ...request, tools: offered } }, run);
      },
      // Genkit does not pass the id of a call to its tool.
      tool(part, run, next) {
        const { metadata } = run as { readonly metadata?: object };
        const named = { ...run, metadata: { ...metadata, ...callOf(part) } };
        return next(part, named);
      },
    };
  });
  return middleware();
}

/**
 * Finds the tools for one query, for `tools` of `generate`. The middleware chooses again on every turn; these stay the same.
 *
 * @example
 * await ai.generate({ prompt, tools: await arsenalTools(arsenal, prompt, { principal }) });
 */
export async function arsenalTools(
  arsenal: AgentArsenal,
  query: string,
  options: GenkitOptions & {
    /** Passed to `principal`. A call passes the context of its own `generate`. */
    readonly context?: ActionContext;
  },
): Promise<ToolAction[]> {
  const { context = {} } = options;
  const tools = await createOffers(arsenal, options).forTurn({
    conversation: [{ role: "user", text: query }],
    context,
  });
  return tools.map((tool) => toAction(tool));
}

interface TurnParts {
  readonly signal?: AbortSignal | undefined;
  readonly report?: (name: string, ref: string | undefined, progress: Progress) => void;
}

function toAction(tool: ModelTool<ActionContext>, { signal, report }: TurnParts = {}): ToolAction {
  const { name, description, inputSchema } = tool;
  return dynamicTool({ name, description, inputJsonSchema: inputSchema as JSONSchema7 }, async (input, call) => {
    const callId = asRecord(call.metadata)["callId"] as string | undefined;
    const { resumed, context } = call;
    const outcome = await tool.run(input, {
      callId,
      context,
      signal: signal ?? call.abortSignal,
      onProgress: report && ((progress) => report(name, callId, progress)),
      answer: toAnswer(resumed),
    });
    if (outcome.kind === "ok") return outcome.value;
    // A tool that interrupts a second time would end the run. A resumed call that still waits therefore returns a message to the model.
    if (outcome.kind === "waiting" && resumed === undefined)
      return call.interrupt({ confirmationId: outcome.confirmationId, message: outcome.reason });
    // An error that a tool throws would end the whole run.
    return { error: outcome.text };
  });
}

function callOf({ toolRequest }: { readonly toolRequest: { readonly ref?: string | undefined } }) {
  return toolRequest.ref === undefined ? {} : { callId: toolRequest.ref };
}

function toConversation(messages: readonly MessageData[]): readonly ConversationMessage[] {
  return messages.flatMap(({ role, content }): readonly ConversationMessage[] => {
    const text = content.flatMap((part) => part.text ?? []).join("\n");
    if (role === "user") return [{ role, text }];
    if (role === "model") {
      const calls = content.flatMap(({ toolRequest }) =>
        toolRequest === undefined ? [] : [{ id: idOf(toolRequest), name: toolRequest.name }],
      );
      return [{ role: "assistant", text, calls }];
    }
    return content.flatMap(({ toolResponse }) => {
      if (toolResponse === undefined) return [];
      const { name, output } = toolResponse;
      const failed = typeof asRecord(output)["error"] === "string";
      return [{ role: "tool", callId: idOf(toolResponse), name, value: output, failed } as const];
    });
  });
}

/** Generates an id for calls of models that give none. */
function idOf({ name, ref }: { readonly name: string; readonly ref?: string | undefined }): string {
  return ref ?? name;
}
