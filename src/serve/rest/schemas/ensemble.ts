import declared from "../../../adapters/adapter-settings.json" with { type: "json" };
import { isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";

const NAME = { pattern: "^[A-Za-z][A-Za-z0-9_-]*$", maxLength: 64 };

const DECLARED = declared.sources as unknown as Readonly<Record<string, { readonly config: JsonSchema }>>;

/** The settings of each type of source in a request. They are the settings of the configuration, with the same names. */
export const SOURCES: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.entries(DECLARED).map(([type, { config }]) => {
    const { properties = {}, ...rest } = withoutDefaults(config) as JsonSchema;
    const named = Object.entries(properties).map(([key, schema]) => {
      return [key, key === "name" || key === "namespace" ? { ...(schema as object), ...NAME } : schema];
    });
    const type_ = { const: type, description: "The type of the source." };
    return [type, { ...rest, properties: { ...Object.fromEntries(named), type: type_ } }];
  }),
);

const CONDITIONAL = ["if", "then"];

export const ANY_SOURCE: JsonSchema = {
  type: "object",
  description: "The type of the source, and the settings of that type.",
  properties: { type: { enum: Object.keys(SOURCES), description: "The type of the source." } },
  required: ["type"],
  // The schema of the type lists the other members.
  additionalProperties: true,
  allOf: Object.entries(SOURCES).map(([type, schema]) => {
    const isOfType = { properties: { type: { const: type } }, required: ["type"] };
    return Object.fromEntries([isOfType, schema].map((part, index) => [CONDITIONAL[index], part]));
  }),
};

/** Removes defaults, which the source applies itself, and formats of files, which callers do not need. */
function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (!isPlainObject(value)) return value;
  const { default: _default, format: _format, ...rest } = value;
  return Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, withoutDefaults(member)]));
}
