/** Rerankers by name, each loaded when it is first used. A new one is one line here; see CONTRIBUTING.md. */
export const rerankers = {
  cohere: () => import("./cohere.ts"),
  cross_encoder: () => import("./cross-encoder.ts"),
  llm: () => import("./llm.ts"),
};
