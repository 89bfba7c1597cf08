import { messageOf } from "../../../../errors/show-value.ts";
import { asList, asRecord, isPlainObject } from "../../../../tool/json-schema.ts";
import { METHODS, type Problem } from "./operations.ts";
import type { JsonObject } from "./references.ts";

type Mutable = Record<string, unknown>;

/** Holds the collection format of 2.0, which version 3 cannot express. */
export const COLLECTION_FORMAT = "x-collection-format";

/** Upgrades a 2.0 document in place. Keeps data that the upgrade would lose. Removes and reports operations that cannot be upgraded. */
export function upgradeSwagger(
  document: Mutable,
  upgrade: (document: Mutable) => JsonObject,
): { readonly root: JsonObject; readonly problems: readonly Problem[] } {
  const problems = prepare(document, upgrade);
  const root = upgrade(document);
  Object.values(asRecord(asRecord(root["components"])["requestBodies"])).forEach(requireForm);
  for (const item of Object.values(asRecord(root["paths"])))
    for (const method of METHODS) requireForm(asRecord(asRecord(item)[method])["requestBody"]);
  return { root, problems };
}

/** Makes a form required if one of its fields is required. */
function requireForm(body: unknown): void {
  if (!isPlainObject(body) || body["required"] !== undefined) return;
  for (const [type, media] of Object.entries(asRecord(body["content"]))) {
    const { required } = asRecord(asRecord(media)["schema"]);
    if (/^multipart\/|x-www-form-urlencoded/i.test(type) && asList(required).length > 0) body["required"] = true;
  }
}

function prepare(document: Mutable, upgrade: (document: Mutable) => unknown): readonly Problem[] {
  const { schemes, paths, parameters } = document;
  if (Array.isArray(schemes)) document["schemes"] = schemes.toSorted((a) => (a === "https" ? -1 : 0));
  Object.values(asRecord(parameters)).forEach(keepCollectionFormat);
  if (!isPlainObject(paths)) return [];
  const problems: Problem[] = [];
  for (const [path, item] of Object.entries(paths)) {
    if (!isPlainObject(item)) continue;
    // The upgrade applies the path's shared parameters only to members that follow them.
    const { parameters: shared, ...others } = item;
    const ordered: Mutable = Array.isArray(shared) ? { parameters: shared, ...others } : others;
    paths[path] = ordered;
    asList(shared).forEach(keepCollectionFormat);
    for (const method of METHODS) {
      const operation = ordered[method];
      if (operation === undefined) continue;
      asList(asRecord(operation)["parameters"]).forEach(keepCollectionFormat);
      const alone = { [path]: { parameters: shared ?? [], [method]: operation } };
      try {
        upgrade(structuredClone({ swagger: "2.0", parameters, paths: alone }));
      } catch (error) {
        delete ordered[method];
        problems.push({ operation: `${method.toUpperCase()} ${path}`, reason: messageOf(error), skipped: true });
      }
    }
    if (!METHODS.some((method) => ordered[method] !== undefined)) delete paths[path];
  }
  return problems;
}

function keepCollectionFormat(parameter: unknown): void {
  if (isPlainObject(parameter) && typeof parameter["collectionFormat"] === "string")
    parameter[COLLECTION_FORMAT] = parameter["collectionFormat"];
}
