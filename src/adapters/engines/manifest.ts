/** Catalog engines by name, each loaded on first use. A new engine is one line here; see CONTRIBUTING.md. */
export const engines = {
  memory: () => import("./memory.ts"),
  postgres: () => import("./postgres/postgres.ts"),
  sqlite: () => import("./sqlite/sqlite.ts"),
  qdrant: () => import("./qdrant.ts"),
  chroma: () => import("./chroma.ts"),
  weaviate: () => import("./weaviate.ts"),
  pinecone: () => import("./pinecone.ts"),
};
