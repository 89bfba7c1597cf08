/** Dialects by name, each loaded on first use. A new dialect is one line here; see CONTRIBUTING.md. */
export const dialects = {
  openai: () => import("./openai/openai.ts"),
  "openai-responses": () => import("./openai/openai-responses.ts"),
  anthropic: () => import("./anthropic.ts"),
  gemini: () => import("./gemini/gemini.ts"),
  mcp: () => import("./mcp.ts"),
  langchain: () => import("./langchain.ts"),
  "ai-sdk": () => import("./ai-sdk.ts"),
  bedrock: () => import("./bedrock.ts"),
  mistral: () => import("./mistral.ts"),
  cohere: () => import("./cohere.ts"),
  ollama: () => import("./ollama.ts"),
  openapi: () => import("./openapi.ts"),
};
