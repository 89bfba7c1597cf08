import type { Tool } from "../tool/tool.ts";

/** Identifies calls of a workflow that request the same work: the current definition of the tool, and the arguments. */
export function workflowKey({ id, contentHash }: Pick<Tool, "id" | "contentHash">, args: object): unknown {
  return [id, contentHash, args];
}
