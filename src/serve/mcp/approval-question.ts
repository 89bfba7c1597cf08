import type { JsonObject } from "../../mcp/protocol.ts";
import type { PendingApproval } from "../../guard/aegis.ts";
import { visibleText } from "../../errors/visible-text.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import type { Peer } from "./plane.ts";

/** A person's answer to the question. Undefined if the person dismissed the question. */
export type PersonsAnswer = "approve" | "deny" | undefined;

/**
 * Longer arguments are shown only in the list of approvals: a dialog is too small for them, and shortening them would hide values that are being
 * approved.
 */
const MAX_ARGUMENTS = 4_000;

/** Returns true for a client that can show forms. */
export function showsForms({ capabilities }: Pick<Peer, "capabilities">): boolean {
  const { elicitation } = capabilities;
  // Clients that declare no elicitation mode support forms, the oldest mode.
  return isPlainObject(elicitation) && ("form" in elicitation || !("url" in elicitation));
}

/** Returns the question whether a call may run, as the params of `elicitation/create`; undefined if the call is too long for a question. */
export function approvalQuestion({ toolId, arguments: args, reason }: PendingApproval): JsonObject | undefined {
  const shown = visibleText(JSON.stringify(args));
  if (shown.length > MAX_ARGUMENTS) return undefined;
  const lines = [
    "A call waits for your approval.",
    `Tool: ${visibleText(toolId)}`,
    `Arguments: ${shown}`,
    `Reason: ${visibleText(reason)}`,
  ];
  return {
    message: lines.join("\n"),
    requestedSchema: {
      type: "object",
      properties: {
        approve: { type: "boolean", title: "Run it", description: "Yes runs the call once, as shown. No refuses it." },
      },
      required: ["approve"],
    },
  };
}

/** Reads the answer to the question. Only an explicit yes approves. */
export function readAnswer({ action, content }: JsonObject): PersonsAnswer {
  if (action === "decline") return "deny";
  if (action !== "accept" || !isPlainObject(content)) return undefined;
  const { approve } = content;
  return approve === true ? "approve" : approve === false ? "deny" : undefined;
}
