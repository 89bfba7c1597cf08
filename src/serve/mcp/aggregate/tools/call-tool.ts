import { isInputRequired, type JsonObject } from "../../../../mcp/protocol.ts";
import type { McpUpstream } from "../../../../adapters/sources/mcp/upstream/upstream.ts";
import type { ToolCall } from "../../../../execute/call.ts";
import type { ToolResult } from "../../../../execute/result.ts";
import type { Tool } from "../../../../tool/tool.ts";
import { answerOf, runForClient, withoutConfirmation } from "../../client-call.ts";
import { askOf, canBeAsked, type Exchange, type Peer } from "../../plane.ts";
import { refusal } from "../../refusal.ts";
import type { Seal } from "../../modern/seal.ts";
import { createRelay, type LogLevel } from "../relay.ts";
import { createRequestState } from "../request-state.ts";
import { rewriteUris } from "../resources/resource-uri.ts";
import type { ServedArsenal } from "../../../served-arsenal.ts";
import { toCallResult } from "./to-call-result.ts";
import { divideId } from "../../../meta-tools/tool-names.ts";

/** What running a tool for a client needs. */
export interface CallToolParts {
  readonly arsenal: Pick<ServedArsenal, "execute" | "getTool" | "approvals">;
  readonly upstream: (name: string) => McpUpstream | undefined;
  readonly seal: Seal;
  readonly plane: string;
  readonly sessionLevel: LogLevel | undefined;
}

/** Time a call may take where a person may be asked in the middle of it and nobody set another. */
const ASKING_TIMEOUT_MS = 300_000;

/**
 * Runs one tool through the arsenal, whichever way the client named it. An MCP server's answer goes back as it came, but for its URIs; what
 * the arsenal refused is a result that says so. `missing` where there is no such tool, or the client may not know of it.
 */
export async function callTool(
  exchange: Exchange,
  target: { readonly toolName: string; readonly arguments: unknown },
  parts: CallToolParts,
): Promise<{ readonly answer: JsonObject } | { readonly missing: ToolResult }> {
  const { peer } = exchange;
  const { name: _, arguments: __, ...extra } = withoutConfirmation(exchange.params);
  const { toolName } = target;
  const args = target.arguments as ToolCall["arguments"] & object;
  const state = createRequestState(exchange, { tool: toolName, arguments: args }, parts);
  const relay = createRelay(exchange, parts.sessionLevel);
  const named = await toolOf(toolName, peer, parts);
  const opened = state.open(extra);
  const timeout = canBeAsked(peer) ? timeoutFor(named, parts) : {};
  const result = await runForClient(
    exchange,
    parts.arsenal,
    { toolName, arguments: args, ...timeout, onProgress: relay.onProgress },
    { extra: opened, ...askOf(exchange), onNotification: relay.onNotification },
  );
  if (result.error?.code === "TOOL_NOT_FOUND" && result.toolId === undefined) return { missing: result };
  const tool = named ?? (await toolOf(result.toolId ?? "", peer, parts));
  const answer = answerOf(result);
  if (answer === undefined) {
    const { status, result: value } = result;
    return { answer: status === "success" ? toCallResult(value, tool, peer.era) : refusal(result) };
  }
  if (isInputRequired(answer)) return { answer: peer.era === "modern" ? state.seal(answer) : cannotAsk() };
  return { answer: tool?.ensemble === undefined ? answer : rewriteUris(answer, tool.ensemble) };
}

/** The tool of an id; undefined for a name that is none. */
async function toolOf(id: string, { principal }: Peer, { arsenal }: CallToolParts): Promise<Tool | undefined> {
  const { name, namespace } = divideId(id);
  return namespace === "" ? undefined : arsenal.getTool(name, namespace, { principal });
}

function timeoutFor(tool: Tool | undefined, { upstream }: CallToolParts): { readonly timeoutMs?: number } {
  const settings = tool?.ensemble === undefined ? undefined : upstream(tool.ensemble)?.settings;
  const isOpen = settings !== undefined && settings.timeoutMs === undefined && tool?.timeoutMs === undefined;
  return isOpen ? { timeoutMs: ASKING_TIMEOUT_MS } : {};
}

function cannotAsk(): JsonObject {
  const text = "The tool needs an answer that this client cannot be asked for. Use another tool, or tell the user.";
  return { content: [{ type: "text", text }], isError: true };
}
