import type { ToolReader } from "../../../transcode/dialect.port.ts";

/**
 * Agent frameworks, besides the dialects, whose tool objects `arsenal.add(tools, { format })` accepts together with their handlers. Each is loaded on
 * first use. A new framework is one line here.
 */
export const frameworkTools: Readonly<Record<string, () => Promise<{ readonly reader: ToolReader }>>> = {
  mastra: () => import("./mastra.ts"),
  "openai-agents": () => import("./openai-agents.ts"),
  "claude-agent": () => import("./claude-agent.ts"),
  "google-adk": () => import("./google-adk.ts"),
  genkit: () => import("./genkit.ts"),
  llamaindex: () => import("./llamaindex.ts"),
  strands: () => import("./strands.ts"),
};
