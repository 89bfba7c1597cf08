import type { JsonSchema } from "../../../../tool/json-schema.ts";
import { createSchemaWriter, type SchemaWriter, TOO_LARGE, type WriteOptions } from "./write-schema.ts";
import type { References } from "../read/references.ts";

/** Writes the root schema with a writer that may shorten it. */
export type WriteRoot = (writer: SchemaWriter) => JsonSchema;

type DetailLimits = Pick<WriteOptions, "depth" | "shortenRequired" | "words">;

/** Tries the whole schema first, then from the smallest valid version to larger ones. */
const WHOLE: DetailLimits = { depth: Infinity, shortenRequired: false, words: Infinity };
const DEEPER: readonly DetailLimits[] = [1, 2, 3, 4, 6, 9].map((depth) => ({
  depth,
  shortenRequired: false,
  words: 300,
}));
const LEAST: readonly DetailLimits[] = [
  { depth: 0, shortenRequired: false, words: 200 },
  { depth: 1, shortenRequired: true, words: 120 },
  { depth: 0, shortenRequired: true, words: 120 },
  { depth: 0, shortenRequired: true, words: 0 },
];

/** Returns the schema with its references in `$defs`, shortened to fit into `maxBytes` of JSON. Undefined if even the shortest version does not fit. */
export function fitSchema(
  root: WriteRoot,
  references: References,
  { direction, maxBytes }: { readonly direction: WriteOptions["direction"]; readonly maxBytes: number },
) {
  const attempt = (way: DetailLimits) => {
    const writer = createSchemaWriter(references, { ...way, direction, maxLength: 2 * maxBytes });
    try {
      const written = root(writer);
      const $defs = writer.definitions();
      const schema = Object.keys($defs).length === 0 ? written : { ...written, $defs };
      if (Buffer.byteLength(JSON.stringify(schema)) > maxBytes) return undefined;
      // `external` has the references to other documents.
      return { schema, shortened: writer.shortened(), external: [...writer.external] };
    } catch (error) {
      if (error === TOO_LARGE) return undefined;
      throw error;
    }
  };
  const whole = attempt(WHOLE);
  if (whole !== undefined) return whole;
  let best: ReturnType<typeof attempt>;
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
  // Texts were shortened, even if nothing was left out.
  return best && { ...best, shortened: true };
}
