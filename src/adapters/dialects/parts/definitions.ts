import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { SourceDraft } from "../../../tool/draft.ts";
import { asRecord, isPlainObject, type JsonSchema } from "../../../tool/json-schema.ts";
import { remember } from "../../../base/remember.ts";
import { words } from "../../../tool/schema/keywords.ts";
import type { Tool } from "../../../tool/tool.ts";
import { toAlias } from "../../../transcode/alias.ts";
import { type ConvertedSchema, convertSchema, type SchemaTarget } from "../../../transcode/convert-schema.ts";
import type { Dialect, Loss } from "../../../transcode/dialect.port.ts";

/** A schema of arguments, in the types of providers' libraries. */
export type ObjectSchema = {
  type: "object";
  properties?: { [name: string]: object };
  required?: string[];
  [keyword: string]: unknown;
};

interface DefinitionParts {
  readonly name: string;
  readonly description: string;
  readonly schema: ObjectSchema;
  readonly strict: boolean;
  readonly tool: Tool;
}

/** The fields of a definition from elsewhere. All are optional, but a definition must have a name. */
interface ReadDefinition extends Pick<SourceDraft, "title" | "returns" | "annotations" | "source"> {
  readonly name: unknown;
  readonly description?: unknown;
  readonly parameters?: unknown;
}

export interface DefinitionShape<Definition> {
  readonly name: string;
  readonly target: SchemaTarget;
  /** Omitted if the provider has no strict mode for tools. */
  readonly strictTarget?: SchemaTarget;
  /** Returns true if a definition also holds this field of a tool. If omitted, definitions hold only name, description and parameters. */
  holds?(field: OptionalField, tool: Tool): boolean;
  /** Applies requirements of the provider that `target` cannot express. */
  adjust?(converted: ConvertedSchema): ConvertedSchema;
  write(parts: DefinitionParts): Definition;
  /** Returns undefined if the value is not a definition of this dialect. */
  read(definition: Readonly<Record<string, unknown>>): ReadDefinition | undefined;
  /** The format of a definition, for error messages. */
  readonly looksLike: string;
}

/** Formats that strict modes enforce. */
export const STRICT_FORMATS = words("date-time time date duration email hostname ipv4 ipv6 uuid");

const OPTIONAL_FIELDS = ["extendedDescription", "returns", "annotations"] as const;

/** Fields of a tool that few providers support. */
type OptionalField = (typeof OPTIONAL_FIELDS)[number];

/** Definitions that were written here, with their tools. Reading them back is exact without extra fields for the provider. */
const written = new WeakMap<object, Tool>();

export function definitions<Definition extends object>(
  shape: DefinitionShape<Definition>,
): Pick<Dialect<Definition>, "name" | "supports" | "fromCanonical" | "convert" | "toCanonical"> {
  const { name, target, strictTarget, adjust = (converted) => converted } = shape;
  const plain = converter(target, adjust);
  const strictly = strictTarget && converter(strictTarget, adjust);

  const convert: Dialect<Definition>["convert"] = (tool, options = {}) => {
    const asked = options.strict === true;
    const attempt = asked ? strictly?.(tool.parameters) : undefined;
    const strict = attempt?.possible === true;
    const { schema, losses } = strict ? attempt : plain(tool.parameters);
    const { name: alias = toAlias(tool.id) } = options;
    const { description } = tool;
    const definition = shape.write({ name: alias, description, schema: schema as ObjectSchema, strict, tool });
    written.set(definition, tool);
    const refused = asked && !strict ? refusals(name, attempt) : [];
    return { definition, strict, losses: [...losses, ...refused, ...unheld(shape, tool)] };
  };

  return {
    name,
    supports: (feature, options = {}) =>
      (options.strict === true ? (strictTarget ?? target) : target).features.has(feature),
    convert,
    fromCanonical: (tool, options) => convert(tool, options).definition,
    toCanonical(definition, options = {}) {
      const original = options.original ?? (isPlainObject(definition) ? written.get(definition) : undefined);
      if (original !== undefined) return original;
      const { name: read, description, parameters, ...rest } = shape.read(asRecord(definition)) ?? {};
      if (typeof read !== "string") {
        const problem = `${showValue(definition)} is not a tool definition of ${name}.`;
        const fix = `Give an object like ${shape.looksLike}.`;
        throw fixable("INPUT_INVALID", problem, fix, { field: "definition", value: definition });
      }
      return {
        ...rest,
        name: read,
        sourceName: read,
        description: (description ?? null) as string | null,
        parameters: (parameters ?? null) as JsonSchema | null,
        sourceMeta: { dialect: name, definition },
      };
    },
  };
}

/** Caches converted schemas, because the same few tools are written every turn. */
function converter(target: SchemaTarget, adjust: (converted: ConvertedSchema) => ConvertedSchema) {
  return remember((schema: JsonSchema) => {
    const converted = adjust(convertSchema(schema, target));
    freeze(converted.schema);
    return converted;
  });
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

function refusals(name: string, attempt: ConvertedSchema | undefined): readonly Loss[] {
  const refused = attempt?.losses.filter(({ action }) => action === "refused") ?? [];
  if (refused.length > 0) return refused;
  return [
    { path: "", keyword: "strict", action: "refused", message: `${name} has no strict mode that a tool can ask for` },
  ];
}

function unheld(shape: Pick<DefinitionShape<unknown>, "name" | "holds">, tool: Tool): readonly Loss[] {
  const lost = OPTIONAL_FIELDS.filter((field) => isSaid(tool, field) && shape.holds?.(field, tool) !== true);
  return lost.map((field) => ({
    path: "",
    keyword: field,
    action: "dropped",
    message: `a definition of ${shape.name} has no place for ${field}`,
  }));
}

function isSaid(tool: Tool, field: OptionalField): boolean {
  if (field !== "annotations") return tool[field] !== undefined;
  return Object.keys(tool.annotations).some((key) => key !== "confirmed");
}
