const READABLE = /^[\t\n\r\x20-\x7E]+$/;

/** Decodes tag characters. Each one encodes an ASCII character. */
export function decodeTags(characters: string): string {
  return Array.from(characters, (character) => {
    const code = (character.codePointAt(0) ?? 0) - 0xe0000;
    return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : "";
  }).join("");
}

/** Decodes variation selectors with the first known encoding that yields readable text. Returns undefined if none does. */
export function decodeSelectors(characters: string): string | undefined {
  const codes = Array.from(characters, (character) => character.codePointAt(0) ?? 0);
  const numbers = codes.map((code) => (code >= 0xe0100 ? code - 0xe0100 + 16 : code - 0xfe00));
  const plain = codes.map((code) => (code >= 0xe0100 ? code - 0xe0100 : code - 0xfe00));
  return (
    readable(numbers) ??
    readable(plain) ??
    readable(pairs(plain, (low, high) => high * 16 + low)) ??
    readable(pairs(plain, (high, low) => high * 16 + low))
  );
}

/** Decodes a sequence of two different invisible characters as bits, eight per letter. Returns undefined if the result is not text. */
export function decodeBits(characters: string): string | undefined {
  // An ASCII letter begins with a zero bit, so the first character means zero.
  const [, one, more] = new Set(characters);
  if (one === undefined || more !== undefined) return undefined;
  return readable(octets(characters, one));
}

function octets(characters: string, one: string): readonly number[] {
  return Array.from({ length: Math.floor(characters.length / 8) }, (_, index) => {
    let value = 0;
    for (let bit = 0; bit < 8; bit++) value = value * 2 + (characters.charAt(index * 8 + bit) === one ? 1 : 0);
    return value;
  });
}

function pairs(values: readonly number[], combine: (first: number, second: number) => number): readonly number[] {
  return Array.from({ length: Math.floor(values.length / 2) }, (_, index) =>
    combine(values[2 * index] ?? 0, values[2 * index + 1] ?? 0),
  );
}

function readable(values: readonly number[]): string | undefined {
  if (values.length < 2 || values.some((value) => value > 255)) return undefined;
  const text = Buffer.from(values).toString("utf8");
  return READABLE.test(text) ? text : undefined;
}

/** Matches a letter of a script whose spelling needs zero-width joiners and non-joiners. Invisible marks are not letters and need none. */
export const NEEDS_JOINER: RegExp =
  /(?=[\p{L}\p{M}])[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Thaana}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Tibetan}\p{Script=Myanmar}\p{Script=Khmer}\p{Script=Adlam}\p{Script=Hebrew}]/u;

/** Matches a character of a script without spaces, where a zero-width space marks the end of a word. */
export const SPACELESS: RegExp =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}]/u;

export const RIGHT_TO_LEFT: RegExp =
  /(?=\p{L})[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

const EMOJI_BEFORE_JOINER = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\u{E007F}]/u;

/** Returns true if a joiner combines the two characters into one emoji. */
export function joinsEmoji(before: string, after: string): boolean {
  return EMOJI_BEFORE_JOINER.test(before) && /\p{Extended_Pictographic}/u.test(after);
}

/** Returns true if the base character supports the variation selector: emoji or text style, or a variant of an ideograph. */
export function isVariation(base: string, selector: number): boolean {
  if (selector === 0xfe0f || selector === 0xfe0e) return /[\p{Emoji}\p{Extended_Pictographic}]/u.test(base);
  if (selector >= 0xe0100) return /\p{Script=Han}/u.test(base);
  return /[\p{Script=Han}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Manichaean}\p{Sm}\u3001\u3002\uFF01-\uFF1F]/u.test(
    base,
  );
}

/** Matches a sequence that begins with ESC or its one-character form. Part of a regular expression. Bounded, so matching takes linear time. */
export const TERMINAL_ESCAPE: string = [
  String.raw`(?:\x1B\[|\x9B)[0-?]{0,64}[ -/]{0,8}[@-~]?`,
  String.raw`(?:\x1B[\]PX^_]|[\x90\x98\x9D\x9E\x9F])[^\x07\x1B\x90\x98\x9B-\x9F]{0,4096}(?:\x07|\x1B\\|\x9C)?`,
  String.raw`\x1B[ -/]{0,4}[0-~]?`,
].join("|");

const CONTROL = new RegExp(String.raw`^(?:\x1B\[|\x9B)([0-9;:]*)(.?)$`, "s");
const CARRIES = new RegExp(String.raw`^(?:\x1B[\]PX^_]|[\x90\x98\x9D\x9E\x9F])([^\x07\x1B\x9C]*)`);

/** Returns the effect of a sequence on a terminal, and the text that it hides, such as the address of a link or a title. */
export function readEscape(sequence: string): {
  readonly effect: "colour" | "conceal" | "steer" | "text";
  readonly hidden: string;
} {
  const control = CONTROL.exec(sequence);
  if (control === null) {
    const carried = CARRIES.exec(sequence)?.[1];
    return carried === undefined ? { effect: "steer", hidden: "" } : { effect: "text", hidden: carried };
  }
  const [, parameters = "", final] = control;
  if (final !== "m") return { effect: "steer", hidden: "" };
  return { effect: conceals(parameters.split(/[;:]/)) ? "conceal" : "colour", hidden: "" };
}

/** Returns true for the attribute "concealed", and for text in its background colour. */
function conceals(attributes: readonly string[]): boolean {
  // In 38;5;N and 38;2;R;G;B, the numbers after 38 are a colour, not attributes.
  const extended = attributes.findIndex((attribute) => attribute === "38" || attribute === "48");
  const plain = extended < 0 ? attributes : attributes.slice(0, extended);
  if (plain.includes("8")) return true;
  const tens = (from: number): string | undefined =>
    plain.find((attribute) => Math.floor(Number(attribute) / 10) === from);
  const [letter, ground] = [tens(3) ?? tens(9), tens(4) ?? tens(10)];
  return letter !== undefined && ground !== undefined && letter.at(-1) === ground.at(-1);
}
