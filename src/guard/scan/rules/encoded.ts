import type { Rule, Span } from "./rule.ts";

const BASE64 = /(?<![\w+/=.-])[A-Za-z0-9+/_-]{24,8192}={0,2}(?![\w+/=])/g;
const HEX = /(?<![0-9A-Fa-f])(?:0x)?[0-9A-Fa-f]{40,8192}(?![0-9A-Za-z])/g;
const ESCAPED =
  /(?:\\x[0-9A-Fa-f]{2}){12,2048}|(?:%[0-9A-Fa-f]{2}){12,2048}|(?:&#x?[0-9A-Fa-f]{2,6};){8,1024}|(?:\\u00[0-9A-Fa-f]{2}){8,1024}/g;
/** Every payload contains this. */
const LONG = /\S{24}/;
/** Matches escapes of invisible characters, which a program could decode. */
const SPELLED_TAGS = /(?:\\u\{?|\\U000)[eE]00[0-7][0-9a-fA-F]|&#x[eE]00[0-7][0-9a-fA-F];/g;

export interface Decoded extends Span {
  readonly content: string;
}

/** The maximum number of decoded payloads per text. It bounds the cost of a scan. */
const MAX_PAYLOADS = 32;

/** Returns the decoded parts of a text that contain words. */
export function decodePayloads(text: string): readonly Decoded[] {
  if (!LONG.test(text)) return [];
  const found: Decoded[] = [];
  const take = (expression: RegExp, decode: (payload: string) => string): void => {
    let seen = 0;
    for (const { index, 0: payload } of text.matchAll(expression)) {
      if (seen++ >= MAX_PAYLOADS) return;
      const content = decode(payload);
      if (isProse(content)) found.push({ start: index, end: index + payload.length, content });
    }
  };
  take(BASE64, (payload) => Buffer.from(payload, "base64").toString("latin1"));
  take(HEX, (payload) => Buffer.from(payload.replace("0x", ""), "hex").toString("latin1"));
  take(ESCAPED, unescape);
  return found;
}

function unescape(payload: string): string {
  return payload.replaceAll(
    /\\x([0-9A-Fa-f]{2})|%([0-9A-Fa-f]{2})|&#(x?)([0-9A-Fa-f]{2,6});|\\u00([0-9A-Fa-f]{2})/g,
    (_, ...groups: string[]) => {
      const [hex, percent, base, entity, unicode] = groups;
      const code = Number.parseInt(hex ?? percent ?? unicode ?? entity ?? "", base === "" ? 10 : 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    },
  );
}

/** Returns true for readable prose or a shell command. Returns false for binary data, and for JSON, such as decoded tokens and cursors. */
function isProse(content: string): boolean {
  if (content.length < 16 || !/^[\t\n\r\x20-\x7E]+$/.test(content) || /^\s*[[{]/.test(content)) return false;
  const letters = content.match(/[A-Za-z ]/g)?.length ?? 0;
  return letters / content.length > 0.6 && (content.match(/ /g)?.length ?? 0) >= 2;
}

/** Finds text that must be decoded before it can be read. The decoded text is scanned as well. */
export const ENCODED_RULES: readonly Rule[] = [
  {
    id: "encoded.payload",
    category: "encoded",
    severity: "medium",
    message: "Contains words in an encoding that models can read and people cannot.",
    find: (text) => decodePayloads(text.text)[0] ?? text.all(SPELLED_TAGS)[0],
  },
];
