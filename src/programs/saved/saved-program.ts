import { sha256 } from "../../base/crypto.ts";
import { fixable } from "../../errors/arsenal-error.ts";
import { isPlainObject, type JsonSchema } from "../../tool/json-schema.ts";
import { entry, hinted, type InputOf, refined, schema, string, text } from "../../tool/shape/shape.ts";

/** The namespace of saved programs, and the name of their ensemble. */
export const SAVED_NAMESPACE = "programs";

const NAME = /^[a-z][a-z0-9_]{0,63}$/;

export const SAVE_PROGRAM = entry(
  "A program that worked, and the tool that it becomes.",
  {
    runId: text("The run of the program. It must have succeeded."),
    name: hinted(
      refined(string("The tool's name: lower case letters, digits and _. Its id is `programs.NAME`."), {
        pattern: NAME.source,
      }),
      {
        fits: (value) => typeof value === "string" && NAME.test(value),
        problem: "is not a name",
        fix: "Write lower case letters, digits and _, such as open_bugs.",
      },
    ),
    description: text("The text that models read and the search indexes."),
    inputs: schema<JsonSchema>({
      description: "JSON Schema of the arguments. Defaults to the type of the program's `input`.",
      type: "object",
    }),
    returns: schema<JsonSchema>({
      description: "JSON Schema of the result. Defaults to the shape of the run's value, if that is an object.",
      type: "object",
    }),
  },
  ["runId", "name", "description"],
);

/** A request to save a program. */
export interface SaveProgram extends InputOf<typeof SAVE_PROGRAM> {}

/** A program that is, or may become, a tool. */
export interface SavedProgram {
  readonly name: string;
  /** `proposed`: the program becomes a tool when an operator accepts it. */
  readonly status: "proposed" | "accepted";
  readonly description: string;
  readonly code: string;
  /** SHA-256 of everything that was accepted: code, inputs, result and tools. */
  readonly digest: string;
  readonly inputs: JsonSchema;
  readonly returns?: JsonSchema;
  /** Ids of the tools that the program may call: the tools that its run called, and the tools that its code names. */
  readonly tools: readonly string[];
  readonly runId: string;
  readonly savedBy: string;
  /** The owning tenant. Omitted if the program belongs to all tenants. */
  readonly tenant?: string;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
  readonly acceptedBy?: string;
}

/** Returns the digest of a saved program. It covers everything that a person accepts. */
export function digestOf({
  code,
  inputs,
  returns,
  tools,
  description,
}: Pick<SavedProgram, "code" | "inputs" | "returns" | "tools" | "description">): string {
  return sha256(JSON.stringify([code, inputs, returns ?? null, tools, description]));
}

/**
 * Returns the shape of a value, kept loose because it is learned from one example: members may be missing or null, and lists have the shape of their
 * first item. Undefined unless the value is an object.
 */
export function shapeOf(value: unknown): JsonSchema | undefined {
  return isPlainObject(value) ? looseShape(value, 0) : undefined;
}

/** Deeper values, and objects with more members, are not described. */
const MAX_DEPTH = 4;
const MOST_MEMBERS = 24;

function looseShape(value: unknown, depth: number): JsonSchema {
  if (value === null || depth > MAX_DEPTH) return {};
  if (Array.isArray(value)) {
    const [first] = value;
    return {
      type: depth === 0 ? "array" : ["array", "null"],
      ...(first !== undefined && { items: looseShape(first, depth + 1) }),
    };
  }
  if (!isPlainObject(value)) return { type: [typeof value as "string", "null"] };
  const type = depth === 0 ? ("object" as const) : (["object", "null"] as const);
  const entries = Object.entries(value);
  if (entries.length > MOST_MEMBERS) return { type };
  return {
    type,
    properties: Object.fromEntries(entries.map(([name, member]) => [name, looseShape(member, depth + 1)])),
  };
}

export function checkInputs(inputs: JsonSchema, isRead: boolean): void {
  const field = "inputs";
  if (inputs.type !== "object")
    throw fixable(
      "INPUT_INVALID",
      "The inputs of a program are not an object.",
      "Give an object type with one member for each input.",
      { field },
    );
  if (isRead || Object.keys(inputs.properties ?? {}).length === 0) return;
  const fix = 'Declare them in the program: const input: { project: string } = { project: "web" };';
  throw fixable("INPUT_INVALID", "The program has inputs but never reads `input`.", fix, { field });
}
