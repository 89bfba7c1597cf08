import { messageOf } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import { METHODS, type Problem } from "./operations.ts";
import type { JsonObject } from "./references.ts";

type Mutable = Record<string, unknown>;

/** Where the collection format is kept that version 3 has no word for. */
export const COLLECTION_FORMAT = "x-collection-format";

/** Upgrades a 2.0 document in place. Keeps what the upgrade would lose; removes and reports operations that it cannot upgrade. */
export function upgradeSwagger(
  document: Mutable,
  upgrade: (document: Mutable) => JsonObject,
): { readonly root: JsonObject; readonly problems: readonly Problem[] } {
  const problems = prepare(document, upgrade);
  const root = upgrade(document);
  const components = isPlainObject(root["components"]) ? root["components"] : {};
  Object.values(isPlainObject(components["requestBodies"]) ? components["requestBodies"] : {}).forEach(requireForm);
  for (const item of Object.values(isPlainObject(root["paths"]) ? root["paths"] : {}))
    for (const method of METHODS) {
      const operation = isPlainObject(item) ? item[method] : undefined;
      if (isPlainObject(operation)) requireForm(operation["requestBody"]);
    }
  return { root, problems };
}

/** A field of a form that must be there makes the form one that must be there. */
function requireForm(body: unknown): void {
  if (!isPlainObject(body) || body["required"] !== undefined || !isPlainObject(body["content"])) return;
  for (const [type, media] of Object.entries(body["content"])) {
    if (!/^multipart\/|x-www-form-urlencoded/i.test(type) || !isPlainObject(media) || !isPlainObject(media["schema"]))
      continue;
    const { required } = media["schema"];
    if (Array.isArray(required) && required.length > 0) body["required"] = true;
  }
}

function prepare(document: Mutable, upgrade: (document: Mutable) => unknown): readonly Problem[] {
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
      const alone = {
        swagger: "2.0",
        parameters,
        paths: { [path]: { parameters: shared ?? [], [method]: operation } },
      };
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
    return messageOf(error);
  }
}
