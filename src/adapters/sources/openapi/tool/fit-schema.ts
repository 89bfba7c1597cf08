import type { JsonSchema } from "../../../../tool/json-schema.ts";
import { createSchemaWriter, type SchemaWriter, TOO_LARGE, type WriteOptions } from "./write-schema.ts";
import type { References } from "../read/references.ts";

/** A schema by itself: what it refers to is in its `$defs`. */
export interface FittedSchema {
  readonly schema: JsonSchema;
  /** True where something was left out. */
  readonly shortened: boolean;
  /** References that lead out of the document. */
  readonly external: readonly string[];
}

/** What is written, by a writer that may be asked to be brief. */
export type WriteRoot = (writer: SchemaWriter) => JsonSchema;

type Way = Pick<WriteOptions, "depth" | "shortenRequired" | "words">;

/** Everything, then from the least that is still sound to ever more. */
const WHOLE: Way = { depth: Infinity, shortenRequired: false, words: Infinity };
const DEEPER: readonly Way[] = [1, 2, 3, 4, 6, 9].map((depth) => ({ depth, shortenRequired: false, words: 300 }));
const LEAST: readonly Way[] = [
  { depth: 0, shortenRequired: false, words: 200 },
  { depth: 1, shortenRequired: true, words: 120 },
  { depth: 0, shortenRequired: true, words: 120 },
  { depth: 0, shortenRequired: true, words: 0 },
];

/** The schema with as much of it as fits into so many bytes of JSON; undefined where not even the least does. */
export function fitSchema(
  root: WriteRoot,
  references: References,
  { direction, maxBytes }: { readonly direction: WriteOptions["direction"]; readonly maxBytes: number },
): FittedSchema | undefined {
  const attempt = (way: Way): FittedSchema | undefined => {
    const writer = createSchemaWriter(references, { ...way, direction, maxLength: 2 * maxBytes });
    try {
      const schema = withDefinitions(root(writer), writer.definitions());
      if (Buffer.byteLength(JSON.stringify(schema)) > maxBytes) return undefined;
      return { schema, shortened: writer.shortened(), external: [...writer.external] };
    } catch (error) {
      if (error === TOO_LARGE) return undefined;
      throw error;
    }
  };
  const whole = attempt(WHOLE);
  if (whole !== undefined) return whole;
  let best: FittedSchema | undefined;
  for (const way of DEEPER) {
    const fitted = attempt(way);
    if (fitted === undefined) break;
    best = fitted;
    if (!fitted.shortened) break;
  }
  for (const way of best === undefined ? LEAST : []) {
    best = attempt(way);
    if (best !== undefined) break;
  }
  // Words were left out, if nothing else was.
  return best && { ...best, shortened: true };
}

/** The whole schema, however large. */
export function wholeSchema(root: WriteRoot, references: References, direction: WriteOptions["direction"]): JsonSchema {
  const writer = createSchemaWriter(references, { ...WHOLE, direction, maxLength: Infinity });
  return withDefinitions(root(writer), writer.definitions());
}

function withDefinitions(schema: JsonSchema, $defs: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return Object.keys($defs).length === 0 ? schema : { ...schema, $defs };
}
