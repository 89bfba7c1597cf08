/** Language models by API, each loaded on first use. A new API is one line here; see CONTRIBUTING.md. */
export const llms = {
  anthropic: () => import("./anthropic.ts"),
  gemini: () => import("./gemini.ts"),
  openai: () => import("./openai.ts"),
  openai_responses: () => import("./openai-responses.ts"),
};
