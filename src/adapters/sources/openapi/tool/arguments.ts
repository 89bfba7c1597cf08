import { asRecord, type JsonSchema } from "../../../../tool/json-schema.ts";
import type { SchemaPosition } from "./definitions.ts";
import { FILE_DESCRIPTION, fileSchema } from "../call/files.ts";
import { type Body, isFile, isFileList } from "../read/read-body.ts";
import type { Parameter } from "../read/read-parameters.ts";
import type { References } from "../read/references.ts";
import type { SchemaWriter } from "./write-schema.ts";

/** An argument that is the body or a member of the body. */
interface BodyArgument {
  readonly in: "body";
  /** Empty for the whole body. */
  readonly name: string;
  readonly required: boolean;
  readonly description?: string | undefined;
  readonly deprecated?: undefined;
  /** True if the value is a file, or a list of files. */
  readonly file?: boolean;
  /** The schema in the document. */
  readonly schema: unknown;
}

type RequestValue = BodyArgument | (Parameter & { readonly file?: undefined });

/** An argument of a tool, with its position in the request. */
export type Argument = RequestValue & {
  /** The argument's name for the model. */ readonly argument: string;
};

export interface Arguments {
  readonly list: readonly Argument[];
  readonly body: Body | undefined;
  /** The schema of additional arguments; undefined if the body accepts none. */
  readonly additional: unknown;
}

/** Argument names that every model API accepts. */
const LEGAL_NAME = /^[\w.-]{1,64}$/;

/**
 * Combines the parameters and the body into one list of arguments. A repeated name gets its position as a suffix: `id_query`. A body that is not an
 * object is named `body`.
 */
export function layOut(
  parameters: readonly Parameter[],
  body: Body | undefined,
  references: References,
  paths: boolean,
): Arguments {
  const inBody = body === undefined ? [] : bodyArguments(body, references, paths);
  const given: readonly RequestValue[] = [...parameters, ...inBody];
  const wanted = new Set(given.map(({ name }) => name));
  const taken = new Set<string>();
  const list = given.map((each): Argument => {
    const argument = freeName(each, wanted, taken);
    taken.add(argument);
    return { ...each, argument };
  });
  return { list, body, additional: body?.shape?.additional };
}

function freeName({ name, in: place }: RequestValue, wanted: ReadonlySet<string>, taken: ReadonlySet<string>): string {
  const plain = toLegal(name === "" ? "body" : name);
  if (!taken.has(plain) && (plain === name || !wanted.has(plain))) return plain;
  const base = `${plain.slice(0, 50)}_${place}`;
  let argument = base;
  for (let count = 2; taken.has(argument) || wanted.has(argument); count++) argument = `${base}_${count}`;
  return argument;
}

/** `filter[name]` becomes `filter_name`, `$top` becomes `top`. */
function toLegal(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const legal = name.replaceAll(/[^\w.-]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return legal === "" ? "argument" : legal.slice(0, 60);
}

function bodyArguments(body: Body, references: References, paths: boolean): readonly BodyArgument[] {
  const { shape, kind, contentType, required, description, schema: whole } = body;
  const bare = { in: "body", name: "", required, description } as const;
  const file = fileSchema(paths);
  if (kind === "binary") return [{ ...bare, description: describeFile(description), file: true, schema: file }];
  const hint = !/^text\/plain/i.test(contentType) && { description: `As ${contentType}.` };
  if (kind === "text") return [{ ...bare, schema: { type: "string", ...hint } }];
  if (shape === undefined) return [{ ...bare, schema: whole }];
  return [...shape.properties].flatMap(([name, schema]): BodyArgument[] => {
    const about = asRecord(schema);
    if (about["readOnly"] === true) return [];
    const place = { in: "body", name, required: required && shape.required.has(name) } as const;
    const isOne = kind === "multipart" && isFile(schema, references);
    if (!isOne && !(kind === "multipart" && isFileList(schema, references))) return [{ ...place, schema }];
    const said = describeFile(about["description"]);
    return [{ ...place, description: said, file: true, schema: isOne ? file : { type: "array", items: file } }];
  });
}

function describeFile(description: unknown): string {
  return typeof description === "string" ? `${description} ${FILE_DESCRIPTION}` : FILE_DESCRIPTION;
}

const ROOT: SchemaPosition = { depth: 0, required: true, nesting: 0 };

/** Returns the schema of a tool's parameters, written by one writer. */
export function writeArguments({ list, body, additional }: Arguments, writer: SchemaWriter): JsonSchema {
  const properties = list.map(({ argument, schema, required, description, deprecated }) => {
    const written = writer.write(schema, { ...ROOT, required });
    const said = description !== undefined && joined(writer.describe(description), written.description);
    return [argument, { ...written, ...(said && { description: said }), ...(deprecated && { deprecated }) }] as const;
  });
  const required = list.flatMap((each) => (each.required ? [each.argument] : []));
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...writeAlternatives(list, body),
    additionalProperties: additional === undefined ? false : writer.write(additional, { ...ROOT, required: false }),
  };
}

/** Returns the parameter's description, with the writer's additions to the schema's description. */
function joined(description: string, written: string | undefined): string {
  const added = written?.match(/Default: .{1,100}\.$|\(shortened\)$/)?.[0];
  return added === undefined ? description : `${description} ${added}`;
}

/** Writes groups of alternative arguments, if the body is required as a whole. */
function writeAlternatives(list: readonly Argument[], body: Body | undefined): JsonSchema {
  if (body?.required !== true || body.shape === undefined) return {};
  const argumentOf = new Map(list.flatMap((each) => (each.in === "body" ? [[each.name, each.argument] as const] : [])));
  const allOf = body.shape.alternatives.flatMap(({ keyword, groups }) => {
    const required = groups.map((names) => names.flatMap((name) => argumentOf.get(name) ?? []));
    // A group without one of its members would require less, so two groups could match at once.
    const whole = required.every((names, index) => names.length === groups[index]?.length);
    return whole ? [{ [keyword]: required.map((names) => ({ required: names })) }] : [];
  });
  return allOf.length > 1 ? { allOf } : (allOf[0] ?? {});
}
