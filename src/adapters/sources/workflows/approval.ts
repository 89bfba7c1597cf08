import type { Registration, Registry } from "../../../register/registry.ts";

/** Suffix of a workflow's tool id. The result is the id of the approvals of its steps: `flows.refund/approval`. */
export const APPROVAL = "/approval";

/**
 * Finds the approval tool of a workflow's steps. The guard treats it as a call of the workflow with the question among the arguments, so a caller who
 * may run the workflow may ask for its approvals. The call waits for a person, and then does nothing.
 */
export function findApproval(name: string, registry: Pick<Registry, "own">): Registration | undefined {
  if (!name.endsWith(APPROVAL)) return undefined;
  const tool = registry.own(name.slice(0, -APPROVAL.length))?.tool;
  return tool?.source === "workflow" ? { tool, handler: () => ({ approved: true }) } : undefined;
}
