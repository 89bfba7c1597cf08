/** Language models by the API they are behind, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const llms = {
  anthropic: () => import("./anthropic.ts"),
  gemini: () => import("./gemini.ts"),
  openai: () => import("./openai.ts"),
  openai_responses: () => import("./openai-responses.ts"),
};
