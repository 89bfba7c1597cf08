export { createToolset, type ToolsetBuilder, type ToolsetCatalog } from "./builder.ts";
export { createRunner, type RunnableArsenal, type Runner } from "./runner.ts";
export type { AccessPolicy, Selection, Toolset, ToolsetDefinition } from "./toolset.ts";
export type { Toolsets } from "./toolsets.ts";
