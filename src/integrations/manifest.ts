/** Integrations by framework, each loaded on first use. A new integration is one line here; see CONTRIBUTING.md. */
export const integrations = {
  "ai-sdk": () => import("./ai-sdk.ts"),
  langchain: () => import("./langchain.ts"),
  mastra: () => import("./mastra.ts"),
  "openai-agents": () => import("./openai-agents.ts"),
  "claude-agent": () => import("./claude-agent.ts"),
  "google-adk": () => import("./google-adk.ts"),
  genkit: () => import("./genkit.ts"),
  llamaindex: () => import("./llamaindex.ts"),
  strands: () => import("./strands.ts"),
  autogen: () => import("./autogen.ts"),
  crewai: () => import("./crewai.ts"),
};
