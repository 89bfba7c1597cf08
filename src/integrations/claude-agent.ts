import type {
  CanUseTool,
  HookCallbackMatcher,
  HookInput,
  McpSdkServerConfigWithInstance,
  Options,
  PermissionResult,
  SDKDeferredToolUse,
} from "@anthropic-ai/claude-agent-sdk";
import type { McpToolResult } from "../adapters/dialects/mcp.ts";
import type { AgentArsenal } from "../agent/offer-tools.ts";
import { asRecord } from "../tool/json-schema.ts";
import type { ConversationMessage } from "./conversation.ts";
import { importFramework } from "./library.ts";
import { type CallDecision, createOffers, type IntegrationOptions, type ModelTool } from "./offers.ts";
import type { CallOutcome } from "./outcome.ts";

export type { IntegrationOptions } from "./offers.ts";

const INSTALL = "npm install @anthropic-ai/claude-agent-sdk @modelcontextprotocol/sdk";
const { createSdkMcpServer } = await importFramework(
  "claude-agent",
  INSTALL,
  () => import("@anthropic-ai/claude-agent-sdk"),
);
const { CallToolRequestSchema, ListToolsRequestSchema } = await importFramework(
  "claude-agent",
  INSTALL,
  () => import("@modelcontextprotocol/sdk/types.js"),
);

/** A call that waits for a person. */
export interface ApprovalRequest {
  readonly confirmationId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** Options of one `query`. The Agent SDK passes no request context, so the principal applies to the whole query. */
export interface ClaudeAgentOptions extends IntegrationOptions<undefined> {
  /** The name of the MCP server. The model sees its tools as `mcp__NAME__TOOL`. Defaults to `arsenal`. */
  readonly serverName?: string;
  /** Asks a person about a waiting call, and resolves with the answer. If omitted, the run ends, and `deferred` resumes it. */
  readonly onApproval?: (request: ApprovalRequest, options: { readonly signal: AbortSignal }) => Promise<boolean>;
  /** The call at which an earlier run ended: `deferred_tool_use` in its result. */
  readonly deferred?: Pick<SDKDeferredToolUse, "id" | "name"> | undefined;
  /** The person's answer to `deferred`. If omitted, the call is made again, and runs if it was approved in the arsenal. */
  readonly answer?: "approve" | "deny" | undefined;
  /** Decides about tools that do not belong to the arsenal. They are denied by default. */
  readonly canUseTool?: CanUseTool;
}

/** How long a hook waits for Claude Code to list the tools of a turn. */
const LISTED_MS = 5_000;

/**
 * Creates the options of one `query`: the arsenal as an in-process MCP server whose tools are chosen on every turn, and `canUseTool`, which asks
 * Aegis. Create them for each query.
 *
 * @example
 * query({ prompt, options: { model, ...arsenalOptions(arsenal, { principal }) } });
 */
export function arsenalOptions(
  arsenal: AgentArsenal,
  options: ClaudeAgentOptions,
): Required<Pick<Options, "mcpServers" | "canUseTool" | "hooks">> {
  const { serverName = "arsenal", onApproval, deferred, answer: given } = options;
  const offers = createOffers(arsenal, options);
  const prefix = `mcp__${serverName}__`;
  const nameOf = (name: string): string | undefined =>
    name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
  const conversation: ConversationMessage[] = [];
  if (deferred !== undefined) {
    const { id, name } = deferred;
    conversation.push({ role: "assistant", text: "", calls: [{ id, name: nameOf(name) ?? name }] });
  }
  /** Answers of people, by the id of the call. */
  const answers = new Map<string, "approve" | "deny">();
  if (deferred !== undefined && given !== undefined) answers.set(deferred.id, given);
  /** Decisions about the calls of this turn, by call id, so each call is judged once. */
  const decisions = new Map<string, CallDecision>();
  /** The tools that Claude Code has. It adds the tools of a new list, and drops none before the run ends. */
  let tools = choose();
  /** The tools between runs: `find_tools`, and tools that are pinned or resumed. */
  const base = tools;
  base.catch(() => {}); // the first list or call reports the error
  let listed = (): void => {};

  async function choose(signal?: AbortSignal): Promise<readonly ModelTool<undefined>[]> {
    return offers.forTurn({ conversation, context: undefined, signal });
  }

  async function toolOf(name: string): Promise<ModelTool<undefined> | undefined> {
    return (await tools).find((tool) => tool.name === name) ?? (await offers.named(name, undefined));
  }

  const { server, config } = createServer(serverName, {
    async list() {
      const asked = tools;
      const current = await asked;
      // If the list changed meanwhile, it is read once more. The answer is sent before the hook continues.
      if (asked === tools) setImmediate(listed);
      return current;
    },
    async call(name, args, { toolUseId, ...call }) {
      const tool = await toolOf(name);
      if (tool === undefined) return failed(`There is no tool ${name}.`);
      const answer = answers.get(toolUseId);
      return toMcpResult(await tool.run(args, { ...call, callId: toolUseId, answer }));
    },
  });

  /** Adds tools for the next turn. Uses at most half of the remaining places, so later turns can also add tools. */
  async function nextTurn(signal: AbortSignal): Promise<void> {
    const before = await tools;
    const names = new Set(before.map(({ name }) => name));
    const fresh = (await choose(signal)).filter(({ name }) => !names.has(name));
    const added = fresh.slice(0, Math.ceil((offers.limit - before.length) / 2));
    if (added.length > 0) await list([...before, ...added]);
  }

  /** Changes the list of tools, and waits until Claude Code has read it. */
  async function list(changed: readonly ModelTool<undefined>[]): Promise<void> {
    tools = Promise.resolve(changed);
    const { promise, resolve } = Promise.withResolvers<void>();
    listed = resolve;
    const late = setTimeout(resolve, LISTED_MS);
    try {
      await server.sendToolListChanged();
      await promise;
    } finally {
      clearTimeout(late);
    }
  }

  const canUseTool: CanUseTool = async (toolName, input, asked) => {
    const name = nameOf(toolName);
    if (name === undefined) {
      const refusal = deny(`${toolName} is not a tool of the arsenal. Pass canUseTool to decide about other tools.`);
      return options.canUseTool?.(toolName, input, asked) ?? refusal;
    }
    const tool = await toolOf(name);
    if (tool === undefined) return deny(`There is no tool ${name}.`);
    const allowed: PermissionResult = { behavior: "allow", updatedInput: input };
    const decision = decisions.get(asked.toolUseID) ?? (await tool.ask(input));
    if (decision.effect === "allow" || answers.has(asked.toolUseID)) return allowed;
    if (decision.effect === "deny" || onApproval === undefined) return deny(decision.text);
    const { confirmationId, reason: message } = decision;
    const request = { confirmationId, toolName: name, arguments: input, message };
    const isApproved = await onApproval(request, { signal: asked.signal });
    // The call itself passes the answer on.
    answers.set(asked.toolUseID, isApproved ? "approve" : "deny");
    return allowed;
  };

  return {
    mcpServers: { [serverName]: config },
    canUseTool,
    hooks: {
      UserPromptSubmit: [
        onHook("UserPromptSubmit", async ({ prompt }, signal) => {
          conversation.push({ role: "user", text: prompt });
          await nextTurn(signal);
          return {};
        }),
      ],
      PostToolBatch: [
        onHook("PostToolBatch", async ({ tool_calls }, signal) => {
          conversation.push(...toConversation(tool_calls, nameOf));
          decisions.clear();
          await nextTurn(signal);
          return {};
        }),
      ],
      Stop: [
        onHook("Stop", async () => {
          await list(await base);
          return {};
        }),
      ],
      PreToolUse: [
        onHook("PreToolUse", async ({ tool_name, tool_input, tool_use_id }) => {
          const name = nameOf(tool_name);
          const isAsked = name === undefined || onApproval !== undefined || answers.has(tool_use_id);
          const tool = isAsked ? undefined : await toolOf(name);
          const decision = await tool?.ask(tool_input);
          if (decision !== undefined) decisions.set(tool_use_id, decision);
          if (decision?.effect !== "confirm") return {};
          const { reason: permissionDecisionReason } = decision;
          // Ends the run. A later run resumes at this call, and asks the person again.
          return {
            hookSpecificOutput: {
              hookEventName: "PreToolUse",
              permissionDecision: "defer",
              permissionDecisionReason,
            },
          };
        }),
      ],
    },
  };
}

type HookOf<Name extends HookInput["hook_event_name"]> = Extract<HookInput, { readonly hook_event_name: Name }>;
type HookOutput = Awaited<ReturnType<HookCallbackMatcher["hooks"][number]>>;

function onHook<const Name extends HookInput["hook_event_name"]>(
  name: Name,
  run: (input: HookOf<Name>, signal: AbortSignal) => Promise<HookOutput>,
): HookCallbackMatcher {
  return {
    hooks: [
      async (input, _id, { signal }) => (input.hook_event_name === name ? run(input as HookOf<Name>, signal) : {}),
    ],
  };
}

interface ServerHandlers {
  list(): Promise<readonly ModelTool<undefined>[]>;
  call(name: string, args: unknown, call: ServedCall): Promise<McpToolResult>;
}

interface ServedCall extends Required<Pick<Parameters<ModelTool["run"]>[1] & object, "signal" | "onProgress">> {
  readonly toolUseId: string;
}

/** Creates the MCP server. Its list changes between turns, which the Agent SDK's own `tools` cannot do. */
function createServer(name: string, { list, call }: ServerHandlers) {
  const config: McpSdkServerConfigWithInstance = createSdkMcpServer({ name, alwaysLoad: true });
  const { server } = config.instance;
  server.registerCapabilities({ tools: { listChanged: true } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: (await list()).map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.inputSchema,
      // A turn has few tools, so Claude Code's own tool search is not needed.
      _meta: { "anthropic/alwaysLoad": true },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, sendNotification, requestId }) => {
    const { progressToken } = params._meta ?? {};
    return call(params.name, params.arguments ?? {}, {
      signal,
      toolUseId: String(asRecord(params._meta)["claudecode/toolUseId"] ?? requestId),
      onProgress(update) {
        if (progressToken === undefined) return;
        const progress = { method: "notifications/progress", params: { progressToken, ...update } } as const;
        sendNotification(progress).catch(() => {});
      },
    });
  });
  return { server, config };
}

function deny(message: string): PermissionResult {
  return { behavior: "deny", message };
}

function failed(text: string): McpToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function toMcpResult(outcome: CallOutcome): McpToolResult {
  if (outcome.kind !== "ok") return failed(outcome.text);
  return {
    content: outcome.content.parts.map((part) => {
      if (part.kind === "text") return { type: "text", text: part.text };
      const { data, mimeType } = part;
      if (mimeType.startsWith("image/")) return { type: "image", data, mimeType };
      return { type: "text", text: outcome.text };
    }),
  };
}

function toConversation(
  batch: HookOf<"PostToolBatch">["tool_calls"],
  nameOf: (name: string) => string | undefined,
): readonly ConversationMessage[] {
  const calls = batch.map(({ tool_name, tool_use_id: id }) => ({ id, name: nameOf(tool_name) ?? tool_name }));
  const results = batch.map(({ tool_name, tool_use_id: callId, tool_response }): ConversationMessage => {
    return { role: "tool", callId, name: nameOf(tool_name) ?? tool_name, value: textIn(tool_response) };
  });
  return [{ role: "assistant", text: "", calls }, ...results];
}

function textIn(response: unknown): unknown {
  const [first, ...rest] = Array.isArray(response) ? (response as unknown[]) : [];
  const { text } = asRecord(first);
  return typeof text === "string" && rest.length === 0 ? text : response;
}
