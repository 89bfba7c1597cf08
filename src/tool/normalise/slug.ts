import { shortHash } from "../json/canonical-json.ts";
import { LIMITS, NAME_PATTERN, NAMESPACE_PATTERN, RESERVED_NAMES } from "../limits.ts";

const TAIL_DIGITS = 8;

/** The maximum number of characters that are read of a name. The hash at its end covers the rest. */
const READ_LENGTH = 1000;

/** Letters that do not decompose into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/** Converts a name to the canonical pattern. A name that already matches is unchanged. */
export function toName(given: string): string {
  if (NAME_PATTERN.test(given)) return RESERVED_NAMES.has(given) ? `tool_${given}` : given;
  const { text, lost } = transliterate(given);
  // Camel case is split before lower-casing; digits stay with the preceding word (`v2`, `sha256`).
  const words = text
    .replace(/([A-Z]{2,}s)(?=[A-Z][a-z]|[^A-Za-z]|$)/g, (plural) => `_${plural.toLowerCase()}`)
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  let name = words.join("_");
  if (name === "") return `tool_${shortHash(given, TAIL_DIGITS)}`;
  if (!/^[a-z]/.test(name) || RESERVED_NAMES.has(name)) name = `tool_${name}`;
  return lost || name.length > LIMITS.nameLength ? withTail(name, given) : name;
}

/** Appends a hash of `original` to the name, within the length limit. */
export function withTail(name: string, original: string): string {
  const head = name.slice(0, LIMITS.nameLength - TAIL_DIGITS - 1).replace(/_+$/, "");
  return `${head}_${shortHash(original, TAIL_DIGITS)}`;
}

/** Converts a namespace to the pattern: `@owner/Some-Server` becomes `owner.some-server`. */
export function toNamespace(given: string): string {
  if (given.length <= LIMITS.namespaceLength && NAMESPACE_PATTERN.test(given)) return given;
  const { text, lost } = transliterate(given);
  const namespace = text
    .toLowerCase()
    .split(/[./:\\]+/)
    .map((part) => part.replace(/[^a-z0-9_]+/g, "-").replace(/^[-_]+|[-_]+$/g, ""))
    .filter((part) => part !== "")
    .join(".");
  const tail = shortHash(given, TAIL_DIGITS);
  if (namespace === "") return `namespace-${tail}`;
  if (!lost && namespace.length <= LIMITS.namespaceLength) return namespace;
  return `${namespace.slice(0, LIMITS.namespaceLength - TAIL_DIGITS - 1).replace(/[._-]+$/, "")}-${tail}`;
}

/** Transliterates the text to ASCII letters where possible. `lost` is true if letters or digits were lost. */
function transliterate(given: string): { readonly text: string; readonly lost: boolean } {
  let lost = given.length > READ_LENGTH;
  const read = lost ? given.slice(0, READ_LENGTH) : given;
  if (!/\P{ASCII}/u.test(read)) return { text: read, lost };
  const text = read.normalize("NFKD").replace(/\P{ASCII}/gu, (character) => {
    const letters = LETTERS[character.toLowerCase()];
    if (letters !== undefined) return letters;
    if (/\p{M}/u.test(character)) return "";
    if (/[\p{L}\p{N}]/u.test(character)) lost = true;
    return " ";
  });
  return { text, lost };
}
