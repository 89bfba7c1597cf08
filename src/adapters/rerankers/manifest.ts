/** Rerankers by name, each loaded on first use. A new reranker is one line here; see CONTRIBUTING.md. */
export const rerankers = {
  cohere: () => import("./cohere.ts"),
  cross_encoder: () => import("./cross-encoder.ts"),
  llm: () => import("./llm.ts"),
};
