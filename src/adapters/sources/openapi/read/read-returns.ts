import { isPlainObject } from "../../../../tool/json-schema.ts";
import { isJson } from "./read-body.ts";
import type { JsonObject, References } from "./references.ts";

/** What an operation answers with when all goes well. */
export interface Returns {
  /** As the document has it; undefined where it says nothing. */
  readonly schema: unknown;
  /** What to ask for. */
  readonly accept: string;
}

/** Reads the successful answers of an operation. They only describe, so whatever is wrong with them is passed over. */
export function readReturns(definition: JsonObject, references: References): Returns {
  const responses = isPlainObject(definition["responses"]) ? definition["responses"] : {};
  const statuses = Object.keys(responses)
    .filter((status) => /^2(?:\d\d|XX)$/i.test(status))
    .toSorted();
  let schema: unknown;
  const types = new Set<string>();
  for (const status of statuses) {
    for (const [type, media] of contentOf(responses[status], references)) {
      types.add(type);
      if (isJson(type) && isPlainObject(media)) schema ??= media["schema"];
    }
  }
  return { schema, accept: toAccept([...types]) };
}

function contentOf(response: unknown, references: References): readonly (readonly [string, unknown])[] {
  try {
    const { content } = references.follow(response, "a response");
    return isPlainObject(content) ? Object.entries(content) : [];
  } catch {
    return [];
  }
}

/** JSON where there is any: a server that can also answer in other forms must not choose one of them. */
function toAccept(types: readonly string[]): string {
  const concrete = types.filter((type) => !type.includes("*") && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.test(type));
  const json = concrete.filter(isJson);
  const wanted = json.length > 0 ? json.slice(0, 1) : concrete.length > 0 ? concrete.slice(0, 5) : ["application/json"];
  return [...wanted, "*/*;q=0.1"].join(", ");
}
