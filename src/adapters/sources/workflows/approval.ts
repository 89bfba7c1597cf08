import type { Registration, Registry } from "../../../register/registry.ts";

/** Appended to the id of a workflow's tool, this names the approvals of its steps: `flows.refund/approval`. */
export const APPROVAL = "/approval";

/**
 * Finds the approval of a workflow's steps by its name. To the guard it is a call of the workflow itself, with the question among the arguments:
 * a caller who may run the workflow may ask for its approvals. The call waits for a person, and then does nothing.
 */
export function findApproval(name: string, registry: Pick<Registry, "own">): Registration | undefined {
  if (!name.endsWith(APPROVAL)) return undefined;
  const tool = registry.own(name.slice(0, -APPROVAL.length))?.tool;
  return tool?.source === "workflow" ? { tool, handler: () => ({ approved: true }) } : undefined;
}
