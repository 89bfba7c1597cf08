import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { HINTS, type Shape } from "../../tool/shape/shape.ts";
import { toSnake } from "./key-style.ts";

export interface DeprecatedSetting {
  readonly key: string;
  readonly message: string;
}

/** Lists the deprecated keys in a configuration file, each once, with their replacement. */
export function deprecatedSettings(given: unknown, schema: JsonSchema, path = ""): readonly DeprecatedSetting[] {
  if (Array.isArray(given)) {
    const found = given.flatMap((each) => deprecatedSettings(each, (schema.items ?? {}) as JsonSchema, `${path}[]`));
    return [...new Map(found.map((each) => [each.key, each])).values()];
  }
  if (!isPlainObject(given)) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const value = given[toSnake(name)];
    if (value === undefined) return [];
    const key = path === "" ? toSnake(name) : `${path}.${toSnake(name)}`;
    const replacement = (member as Shape)[HINTS]?.replacement;
    const own = replacement === undefined ? [] : [{ key, message: `is deprecated. Use ${replacement} instead` }];
    return [...own, ...deprecatedSettings(value, member as JsonSchema, key)];
  });
}
