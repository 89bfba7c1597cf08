import type { Requester } from "../../../mcp/connection.ts";
import { RPC, RpcError, type JsonObject } from "../../../mcp/protocol.ts";
import { ownToolPrefix } from "../../../adapters/sources/mcp/upstream/request-tools.ts";
import type { McpServerSettings } from "../../../adapters/sources/mcp/settings.ts";
import { answerOf, runForClient, unknownTool, withoutConfirmation } from "../client-call.ts";
import { askOf, type Exchange } from "../plane.ts";
import { refusal, toCallResult } from "../call-result.ts";
import type { ServedTools } from "../../served-arsenal.ts";
import type { NameIndex } from "./served-tools.ts";

/** Time a call may take where the server's own settings do not say: a person may be asked in the middle of it. */
const LONGEST_CALL_MS = 300_000;

/** What calling a tool of one upstream needs. */
export interface CallToolParts {
  readonly arsenal: ServedTools;
  readonly names: NameIndex;
  readonly settings: McpServerSettings;
  /** The session's own connection, where the upstream keeps state for it. */
  readonly connection?: Requester;
}

/**
 * Runs `tools/call` through the arsenal, so that policy, limits and records are those of every other call, and returns the server's own
 * answer unchanged. What the arsenal refuses is a tool result that says so.
 */
export async function callTool(exchange: Exchange, parts: CallToolParts): Promise<JsonObject> {
  const { name, arguments: args = {}, ...extra } = withoutConfirmation(exchange.params);
  if (typeof name !== "string") throw unknownTool(name);
  const toolName = (await parts.names.idOf(name)) ?? ownToolPrefix(parts.settings) + name;
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new RpcError({
      code: RPC.invalidParams,
      message: "arguments is not an object. Give one member a parameter.",
    });
  }
  const { arsenal, connection, settings } = parts;
  const { headers, notify: onNotification } = exchange;
  const timeoutMs = Math.min(settings.timeoutMs ?? LONGEST_CALL_MS, LONGEST_CALL_MS);
  const result = await runForClient(
    exchange,
    arsenal,
    { toolName, arguments: args as Record<string, unknown>, checkArguments: false, timeoutMs },
    { extra, headers, ...(connection && { connection }), ...askOf(exchange), onNotification },
  );
  const answer = answerOf(result);
  if (answer !== undefined) return answer;
  if (result.error?.code === "TOOL_NOT_FOUND") throw unknownTool(name);
  return result.status === "success" ? toCallResult(result.result, undefined, exchange.peer.era) : refusal(result);
}
