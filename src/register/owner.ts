import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { assembleTool, type Tool, type ToolSource } from "../tool/tool.ts";

const OWNERS: Readonly<Record<ToolSource, string>> = {
  mcp: "the MCP server",
  openapi: "the OpenAPI document",
  a2a: "the A2A agent",
  descriptor: "the descriptor",
  workflow: "the workflow files of",
  program: "the saved",
  builtin: "the built-in tools",
  function: "the ensemble",
};

/** Marks a tool that code registers with its handler. Every process on the same catalog then knows that the tool belongs to code. */
export function asOwnedByCode(tool: Tool): Tool {
  return tool.ensemble === undefined ? Object.freeze({ ...tool, ownedByCode: true as const }) : tool;
}

/** Returns the error for a caller that replaces or deletes a tool of another owner; undefined if the tool is only a posted definition. */
export function ownedError({ id, source, ensemble, ownedByCode }: Tool): ArsenalError | undefined {
  if (ensemble === undefined && ownedByCode !== true) return undefined;
  const [owner, change] =
    ensemble === undefined
      ? ["a module or program that registers it with its handler", "change it in that code"]
      : [
          `${OWNERS[source]} ${showValue(ensemble)}`,
          `change it at its source and reload that ensemble: POST /api/v1/ensembles/${encodeURIComponent(ensemble)}/reload`,
        ];
  const problem = `${id} belongs to ${owner}, and cannot be replaced or deleted by anybody else.`;
  return fixable("TOOL_OWNED", problem, `Use another name or namespace, or ${change}.`, { field: "id", value: id });
}

/** Assigns a tool to a tenant: only that tenant's callers see it. */
export function ofTenant({ id: _id, contentHash: _hash, createdAt, ...tool }: Tool, tenant: string): Tool {
  return assembleTool({ ...tool, metadata: Object.freeze({ ...tool.metadata, tenant }) }, createdAt);
}

/** Returns the error if a tenant's caller may not change a tool, because the tool is shared or belongs to another tenant; otherwise undefined. */
export function refusalToChange(tool: Tool | undefined, tenant: string | undefined): ArsenalError | undefined {
  if (tool === undefined || tenant === undefined || tool.metadata["tenant"] === tenant) return undefined;
  const problem = `The tool ${tool.id} cannot be replaced or deleted: it does not belong to the tenant "${tenant}".`;
  const fix = "Use another name or namespace, or ask an operator who belongs to no tenant.";
  return fixable("PERMISSION_DENIED", problem, fix, { field: "name", value: tool.id });
}
