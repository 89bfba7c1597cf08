import type { JsonSchema } from "./json-schema.ts";

/** Standard Schema (standardschema.dev), as a structural type: the common interface of Zod, Valibot and ArkType schemas. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Present for libraries that also implement Standard JSON Schema (Zod 4.2, ArkType 2.1.28, `toStandardJsonSchema` of Valibot). */
    readonly jsonSchema?: {
      readonly input: (options: {
        readonly target: "draft-2020-12";
        readonly libraryOptions?: Record<string, unknown> | undefined;
      }) => Record<string, unknown>;
    };
  };
}

/** The outcome of a Standard Schema validation. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem that a Standard Schema validation found. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The types of schemas that a tool's `parameters` accept. */
export type ParametersSchema = JsonSchema | StandardSchema;

/** The type of a handler's argument, inferred from the `parameters` schema. */
export type ArgumentsOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output>
    ? Output
    : Schema extends JsonSchema
      ? FromJsonSchema<Schema>
      : unknown;

type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: "string" }
      ? string
      : Schema extends { readonly type: "number" | "integer" }
        ? number
        : Schema extends { readonly type: "boolean" }
          ? boolean
          : Schema extends { readonly type: "null" }
            ? null
            : Schema extends { readonly type: "array"; readonly items: infer Items }
              ? FromJsonSchema<Items>[]
              : Schema extends { readonly properties: infer Properties }
                ? ObjectOf<Properties, Schema extends { readonly required: readonly (infer Name)[] } ? Name : never>
                : Schema extends { readonly type: "object" }
                  ? Record<string, unknown>
                  : unknown;

type ObjectOf<Properties, Required> = Flatten<
  { [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<Properties[Name]> } & {
    [Name in keyof Properties as Name extends Required ? never : Name]?: FromJsonSchema<Properties[Name]>;
  }
>;

type Flatten<Type> = { [Key in keyof Type]: Type[Key] };
