import type { JsonObject } from "../../mcp/protocol.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { Approvals } from "../../guard/aegis.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { approvalQuestion, type PersonsAnswer, readAnswer, showsForms } from "./approval-question.ts";
import type { Exchange } from "./plane.ts";

/** The member of `_meta` by which a client names the approval that its call redeems. */
export const CONFIRMATION_ID = "toolarsenal/confirmationId";

/** The part of a call that its approval decides. */
export interface Confirmation {
  readonly confirmationId?: string;
}

/**
 * Runs a call, with the approval that the client names. If the call needs an approval that the caller itself may give, and the client can show
 * a question, the person at the client is asked. Otherwise the call keeps waiting. Nothing has run when the person is asked, so a modern
 * client's answer may reach another process.
 */
export async function runWithApproval(
  exchange: Pick<Exchange, "params" | "peer" | "signal" | "ask" | "resumed">,
  approvals: Approvals,
  run: (confirmation: Confirmation) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { peer, resumed } = exchange;
  const ran =
    resumed === undefined ? await run(namedConfirmation(exchange.params)) : (resumed.state["ran"] as ToolResult);
  const { status, confirmationId } = ran;
  if (status !== "pending_confirmation" || confirmationId === undefined || !showsForms(peer)) return ran;
  const answer = resumed?.answer === undefined ? await askPerson(ran, exchange, approvals) : readAnswer(resumed.answer);
  if (answer === undefined) return ran;
  const { outcome } = await approvals.answer(confirmationId, answer, peer.principal);
  // If somebody else approved it meanwhile, it still does not run against this person's no.
  return answer === "deny" && outcome !== "denied" ? ran : run({ confirmationId });
}

/** The params of a call without what is meant for this gateway alone. */
export function withoutConfirmation(params: JsonObject): JsonObject {
  const { _meta: meta } = params;
  if (!isPlainObject(meta) || !Object.hasOwn(meta, CONFIRMATION_ID)) return params;
  const { [CONFIRMATION_ID]: _, ...others } = meta;
  return { ...params, _meta: others };
}

function namedConfirmation({ _meta: meta }: JsonObject): Confirmation {
  if (!isPlainObject(meta) || !Object.hasOwn(meta, CONFIRMATION_ID)) return {};
  // Whatever it is, the arsenal checks it.
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
