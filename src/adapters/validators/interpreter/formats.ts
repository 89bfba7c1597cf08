import { createRequire } from "node:module";
import type { Format } from "ajv";

/** Longer texts are not matched: some of the expressions take time that grows with the square of the length. */
const LONGEST = 2_048;

/** Formats of which a long text can be one. It is taken for one; of the others no text is so long. */
const MAY_BE_LONG = new Set([
  "uri",
  "uri-reference",
  "uri-template",
  "url",
  "json-pointer",
  "json-pointer-uri-fragment",
  "relative-json-pointer",
  "regex",
  "byte",
  "binary",
  "password",
]);

/** Checks one value that a format speaks of; every other value is fine. */
export interface SafeFormat {
  readonly type: "string" | "number";
  test(value: string | number): boolean;
}

let known: Map<string, SafeFormat> | undefined;

/** The formats that are checked, by name, the same for every validator. Loaded when first asked for. */
export function safeFormats(): ReadonlyMap<string, SafeFormat> {
  if (known) return known;
  const { fullFormats } = createRequire(import.meta.url)("ajv-formats/dist/formats.js") as {
    readonly fullFormats: Readonly<Record<string, Format>>;
  };
  known = new Map();
  for (const [name, format] of Object.entries(fullFormats)) {
    const found = toSafe(name, format);
    if (found) known.set(name, found);
  }
  return known;
}

function toSafe(name: string, format: Format): SafeFormat | undefined {
  if (typeof format !== "object" || format instanceof RegExp) return guarded(name, format);
  if (format.type === "number") return { type: "number", test: format.validate as SafeFormat["test"] };
  return guarded(name, format.validate as Format);
}

function guarded(name: string, format: Format): SafeFormat | undefined {
  const matches = format instanceof RegExp ? (text: string) => format.test(text) : format;
  if (typeof matches !== "function") return undefined;
  const test = matches as (text: string) => boolean;
  const mayBeLong = MAY_BE_LONG.has(name);
  return {
    type: "string",
    test: (text) => (String(text).length > LONGEST ? mayBeLong : test(String(text))),
  };
}
