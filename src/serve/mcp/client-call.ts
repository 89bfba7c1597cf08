import type { ToolCall } from "../../execute/call.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { Approvals } from "../../guard/aegis.ts";
import { DECLINED } from "../../guard/approvals/approval-record.ts";
import type { McpRequest, McpRequestParts } from "../../mcp/connection.ts";
import { type JsonObject, RPC, RpcError, type RpcErrorBody } from "../../mcp/protocol.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { resultOf } from "../result-of.ts";
import type { ServedTools } from "../served-arsenal.ts";
import { approvalQuestion, type PersonsAnswer, readAnswer, showsForms } from "./approval-question.ts";
import type { Exchange } from "./plane.ts";
import { signInForCall } from "./sign-in-question.ts";

/** The member of `_meta` that names the approval which the client's call uses. */
const CONFIRMATION_ID = "toolarsenal/confirmationId";

/**
 * Runs a client's call with the approval that the call names. If the caller may approve the call and the client can show a question, the person is
 * prompted. At that point nothing has run, so a modern client's answer may reach another process.
 */
export async function runForClient(
  exchange: Pick<Exchange, "params" | "peer" | "signal" | "ask" | "resumed" | "trace" | "becomesTask" | "signIn">,
  arsenal: Pick<ServedTools, "execute" | "approvals">,
  call: Omit<ToolCall, "request" | "principal" | "signal" | "confirmationId">,
  parts: Omit<McpRequestParts, "passInputRequired">,
): Promise<ToolResult> {
  const { peer, resumed, signal, trace, becomesTask } = exchange;
  const { principal } = peer;
  const asTask = becomesTask && { isTask: true, onTask: becomesTask };
  const request: McpRequest = { ...parts, ...asTask, source: "mcp", passInputRequired: peer.era === "modern" };
  const run = (confirmation: object): Promise<ToolResult> =>
    resultOf(arsenal.execute({ ...trace, ...call, ...confirmation, principal, signal, request }));

  const first =
    resumed === undefined ? await run(namedConfirmation(exchange.params)) : (resumed.state["ran"] as ToolResult);
  const isSignedIn = await signInForCall(first, exchange);
  const ran = isSignedIn ? await run(namedConfirmation(exchange.params)) : first;
  const { status, confirmationId } = ran;
  if (status !== "pending_confirmation" || confirmationId === undefined || !showsForms(peer)) return ran;
  const { approvals } = arsenal;
  const answer =
    resumed?.answer === undefined || isSignedIn
      ? await askPerson(ran, exchange, approvals)
      : readAnswer(resumed.answer);
  if (answer === undefined) return ran;
  const { outcome } = await approvals.answer(confirmationId, answer, principal);
  // The person refused, so the call does not run, even if another person approved it in the meantime.
  return answer === "deny" && outcome !== "denied" ? declined(ran) : run({ confirmationId });
}

function declined(result: ToolResult): ToolResult {
  const { confirmationId: _, ...ran } = result;
  return { ...ran, status: "permission_denied", error: { code: "APPROVAL_INVALID", message: DECLINED } };
}

/** Returns the MCP server's own answer in a result; undefined if there is none. Throws if the server answered with an error. */
export function answerOf({ answer }: ToolResult): JsonObject | undefined {
  if (answer === undefined) return undefined;
  if ("error" in answer) throw new RpcError(answer.error as RpcErrorBody);
  return answer.result as JsonObject;
}

/** Returns the protocol's error for an unknown tool, with `note` added to its message. */
export function unknownTool(name: unknown, note = ""): RpcError {
  const message = `Unknown tool: ${String(name).slice(0, 200)}${note === "" ? "" : `. ${note}`}`;
  return new RpcError({ code: RPC.invalidParams, message });
}

/** Removes the members that are only for this gateway from a call's params. */
export function withoutConfirmation(params: JsonObject): JsonObject {
  const { _meta: meta } = params;
  if (!isPlainObject(meta) || !Object.hasOwn(meta, CONFIRMATION_ID)) return params;
  const { [CONFIRMATION_ID]: _, ...others } = meta;
  return { ...params, _meta: others };
}

function namedConfirmation({ _meta: meta }: JsonObject): { readonly confirmationId?: string } {
  if (!isPlainObject(meta) || !Object.hasOwn(meta, CONFIRMATION_ID)) return {};
  // The arsenal checks the value.
  return { confirmationId: meta[CONFIRMATION_ID] as string };
}

async function askPerson(
  ran: ToolResult,
  { ask, signal, peer }: Pick<Exchange, "ask" | "signal" | "peer">,
  approvals: Approvals,
): Promise<PersonsAnswer> {
  const waiting = await approvals.get(ran.confirmationId ?? "", { approver: peer.principal });
  const question = waiting === undefined ? undefined : approvalQuestion(waiting);
  if (question === undefined) return undefined;
  try {
    return readAnswer(await ask("elicitation/create", question, { signal, resume: { ran } }));
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}
