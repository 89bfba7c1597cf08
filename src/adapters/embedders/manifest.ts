/** Embedders by name, each loaded on first use. A new embedder is one line here; see CONTRIBUTING.md. */
export const embedders = {
  static: () => import("./static.ts"),
  tuned: () => import("./tuned.ts"),
  cached: () => import("./cached.ts"),
  openai: () => import("./remote/openai.ts"),
  azure: () => import("./remote/azure.ts"),
  cohere: () => import("./remote/cohere.ts"),
  huggingface: () => import("./remote/huggingface.ts"),
  ollama: () => import("./remote/ollama.ts"),
  openai_compatible: () => import("./remote/openai-compatible.ts"),
};
