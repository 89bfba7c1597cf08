import type { JsonSchema } from "../../../tool/json-schema.ts";

/** Short ways to write the schemas that occur most. Every property gets its description. */
export const text = (description: string) => ({ type: "string", description }) as const;
export const number = (description: string) => ({ type: "number", description }) as const;
export const integer = (description: string) => ({ type: "integer", description }) as const;
export const flag = (description: string) => ({ type: "boolean", description }) as const;
export const texts = (description: string) => ({ type: "array", items: { type: "string" }, description }) as const;
/** A time in milliseconds since the epoch. */
export const time = (description: string) =>
  ({ type: "number", description: `${description} Milliseconds since the epoch.` }) as const;
export const share = (description: string) => ({ type: "number", minimum: 0, maximum: 1, description }) as const;
export const choice = <const Values extends readonly string[]>(values: Values, description: string) =>
  ({ type: "string", enum: values, description }) as const;
export const list = <const Items extends JsonSchema>(items: Items, description: string) =>
  ({ type: "array", items, description }) as const;
/** Any object: the names of its members are not known here. */
export const anyObject = (description: string) => ({ type: "object", description }) as const;
/** A schema with another description. */
export const described = <const Schema extends JsonSchema>(schema: Schema, description: string) =>
  ({ ...schema, description }) as const;
/** An object with these members, of which `required` names those that must be there. */
export const openObject = <
  const Required extends readonly (keyof Properties & string)[],
  const Properties extends Readonly<Record<string, JsonSchema>>,
>(
  description: string,
  required: Required,
  properties: Properties,
) => ({ type: "object", description, properties, required }) as const;
/** The same, with no other members. */
export const object = <
  const Required extends readonly (keyof Properties & string)[],
  const Properties extends Readonly<Record<string, JsonSchema>>,
>(
  ...given: [description: string, required: Required, properties: Properties]
) => ({ ...openObject(...given), additionalProperties: false }) as const;
/** A good answer whose body is such an object. */
export const answer = (...[description, required, properties]: Parameters<typeof object>) => ({
  description,
  schema: object("", required, properties),
});
