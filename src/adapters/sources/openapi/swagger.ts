import { isPlainObject } from "../../../tool/json-schema.ts";
import { METHODS, type Problem } from "./operations.ts";

type Mutable = Record<string, unknown>;

/** Where the collection format is kept that version 3 has no word for. */
export const COLLECTION_FORMAT = "x-collection-format";

/**
 * Readies a document of version 2.0 for the upgrade, in place: what the upgrade would lose is written where it stays, and operations that
 * `upgrade` cannot bring over are taken out and returned.
 */
export function prepareSwagger(document: Mutable, upgrade: (document: Mutable) => unknown): readonly Problem[] {
  const { schemes, paths, parameters } = document;
  if (Array.isArray(schemes)) document["schemes"] = schemes.toSorted((a) => (a === "https" ? -1 : 0));
  if (isPlainObject(parameters)) Object.values(parameters).forEach(keepCollectionFormat);
  if (!isPlainObject(paths)) return [];
  const problems: Problem[] = [];
  for (const [path, item] of Object.entries(paths)) {
    if (!isPlainObject(item)) continue;
    // The upgrade knows the path's own parameters only for what follows them.
    const { parameters: shared, ...others } = item;
    const ordered: Mutable = Array.isArray(shared) ? { parameters: shared, ...others } : others;
    paths[path] = ordered;
    if (Array.isArray(shared)) shared.forEach(keepCollectionFormat);
    for (const method of METHODS) {
      const operation = ordered[method];
      if (operation === undefined) continue;
      if (isPlainObject(operation) && Array.isArray(operation["parameters"]))
        operation["parameters"].forEach(keepCollectionFormat);
      const alone = { swagger: "2.0", parameters, paths: { [path]: { parameters: shared ?? [], [method]: operation } } };
      const reason = failureOf(() => upgrade(structuredClone(alone)));
      if (reason === undefined) continue;
      delete ordered[method];
      problems.push({ operation: `${method.toUpperCase()} ${path}`, reason, skipped: true });
    }
    if (!METHODS.some((method) => ordered[method] !== undefined)) delete paths[path];
  }
  return problems;
}

function keepCollectionFormat(parameter: unknown): void {
  if (isPlainObject(parameter) && typeof parameter["collectionFormat"] === "string")
    parameter[COLLECTION_FORMAT] = parameter["collectionFormat"];
}

function failureOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
