/** Sources by name, each loaded on first use. A new source is one line here; see CONTRIBUTING.md. */
export const sources = {
  mcp: () => import("./mcp/mcp.ts"),
  a2a: () => import("./a2a/a2a.ts"),
  openapi: () => import("./openapi/openapi.ts"),
  scripts: () => import("./scripts/scripts.ts"),
  builtin: () => import("./builtin/builtin.ts"),
  descriptor: () => import("./descriptor/descriptor.ts"),
  workflows: () => import("./workflows/workflows.ts"),
};
