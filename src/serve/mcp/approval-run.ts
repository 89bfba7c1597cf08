import type { JsonObject } from "../../mcp/protocol.ts";
import type { ToolResult } from "../../execute/result.ts";
import type { Approvals, PendingApproval } from "../../guard/aegis.ts";
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
 * a question, the person at the client is asked. Otherwise the call keeps waiting.
 */
export async function runWithApproval(
  exchange: Pick<Exchange, "params" | "peer" | "signal" | "ask">,
  approvals: Approvals,
  run: (confirmation: Confirmation) => Promise<ToolResult>,
): Promise<ToolResult> {
  const ran = await run(namedConfirmation(exchange.params));
  const { status, confirmationId } = ran;
  if (status !== "pending_confirmation" || confirmationId === undefined) return ran;
  const { principal } = exchange.peer;
  if (!showsForms(exchange.peer)) return ran;
  const own = await approvals.get(confirmationId, { approver: principal });
  const answer = own === undefined ? undefined : await askPerson(own, exchange);
  if (answer === undefined) return ran;
  const { outcome } = await approvals.answer(confirmationId, answer, principal);
  // What somebody else approved meanwhile does not run against a no.
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
  waiting: PendingApproval,
  { ask, signal }: Pick<Exchange, "ask" | "signal">,
): Promise<PersonsAnswer> {
  const question = approvalQuestion(waiting);
  if (question === undefined) return undefined;
  try {
    return readAnswer(await ask("elicitation/create", question, { signal }));
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  }
}
