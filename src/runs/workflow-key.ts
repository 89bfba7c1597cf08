import type { Tool } from "../tool/tool.ts";

/** Identifies calls of a workflow that ask for the same: the tool as it is defined now, and the arguments. */
export function workflowKey({ id, contentHash }: Pick<Tool, "id" | "contentHash">, args: object): unknown {
  return [id, contentHash, args];
}
