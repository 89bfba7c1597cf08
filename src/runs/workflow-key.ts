import type { Tool } from "../tool/tool.ts";

/** Identifies equal calls of a workflow by the tool's current definition and the arguments. */
export function workflowKey({ id, contentHash }: Pick<Tool, "id" | "contentHash">, args: object): unknown {
  return [id, contentHash, args];
}
