// From manifest.ts, by `npm run derive`:
export { memoryEngine, type MemoryEngineOptions } from "./memory.ts";
export { postgresEngine, type PostgresEngineOptions } from "./postgres/postgres.ts";
export { sqliteEngine, type SqliteEngineOptions } from "./sqlite/sqlite.ts";
export { qdrantEngine, type QdrantEngineOptions } from "./qdrant.ts";
export { chromaEngine, type ChromaEngineOptions } from "./chroma.ts";
export { weaviateEngine, type WeaviateEngineOptions } from "./weaviate.ts";
export { pineconeEngine, type PineconeEngineOptions } from "./pinecone.ts";
// The rest of toolarsenal/engines:
export type {
  CatalogEngine,
  EngineAnswer,
  EngineCandidate,
  EngineChanges,
  EngineOptions,
  EngineQuery,
  ListQuery,
  MatchedTerm,
  ModelVector,
  NamespaceFit,
  PutTools,
  ToolPage,
  ToolVectors,
} from "../../catalog/catalog-engine.port.ts";
