import type { CatalogEngine } from "../../../catalog/catalog-engine.port.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Space } from "./driver.ts";

/** The settings of `vector_store` that every vector database takes. */
export interface VectorStoreSettings {
  readonly url?: string;
  readonly apiKey?: string;
  readonly collectionName?: string;
}

/** Opens an engine, counts its tools and closes it. */
export async function checkEngine(engine: CatalogEngine, where: string): Promise<string> {
  try {
    await engine.open();
    return `${where}, ${await engine.count()} tools`;
  } finally {
    await engine.close();
  }
}

/** A collection has vectors of another length than the model's. */
export function otherDimension(title: string, { name, dimension }: Space, found: number | undefined): ArsenalError {
  const fix = "Choose another vector_store.collection_name, or delete the collection.";
  const [has, needs] = [found, dimension].map((size) =>
    size === undefined ? "no vectors" : `vectors of ${size} dimensions`,
  );
  const message = `The ${title} collection ${name} has ${has}, but needs ${needs}. ${fix}`;
  return new ArsenalError("STORE_FAILED", message, { field: "vector_store.collection_name", value: name, fix });
}

/** A collection exists that the engine did not create. */
export function foreignCollection(title: string, { name }: Space): ArsenalError {
  const fix = "Choose another vector_store.collection_name.";
  const message = `The ${title} collection ${name} was not created by ToolArsenal. ${fix}`;
  return new ArsenalError("STORE_FAILED", message, { field: "vector_store.collection_name", value: name, fix });
}
