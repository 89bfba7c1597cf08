export type { AccessPolicy, Toolset } from "./toolset.ts";
export type { Toolsets } from "./toolsets.ts";
