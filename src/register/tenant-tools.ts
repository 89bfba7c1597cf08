import { type ArsenalError, fixable } from "../errors/arsenal-error.ts";
import { assembleTool, type Tool } from "../tool/tool.ts";

/** A tool as one of a tenant's: only that tenant's callers see it. */
export function ofTenant({ id: _id, contentHash: _hash, createdAt, ...tool }: Tool, tenant: string): Tool {
  return assembleTool({ ...tool, metadata: Object.freeze({ ...tool.metadata, tenant }) }, createdAt);
}

/** Why a caller of a tenant may not change a tool: it is shared, or another tenant's. Undefined if it may. */
export function refusalToChange(tool: Tool | undefined, tenant: string | undefined): ArsenalError | undefined {
  if (tool === undefined || tenant === undefined || tool.metadata["tenant"] === tenant) return undefined;
  const problem = `The tool ${tool.id} cannot be replaced or deleted: it does not belong to the tenant "${tenant}".`;
  const fix = "Use another name or namespace, or ask an operator who belongs to no tenant.";
  return fixable("PERMISSION_DENIED", problem, fix, { field: "name", value: tool.id });
}
