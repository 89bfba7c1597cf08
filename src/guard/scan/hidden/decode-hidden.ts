const READABLE = /^[\t\n\r\x20-\x7E]+$/;

/** What a row of tag characters spells: each stands for one of ASCII. */
export function decodeTags(characters: string): string {
  return Array.from(characters, (character) => {
    const code = (character.codePointAt(0) ?? 0) - 0xe0000;
    return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : "";
  }).join("");
}

/** What a row of variation selectors spells, in whichever of the known ways gives readable text; undefined where none does. */
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

/** What a row of two different invisible characters spells, eight bits a letter; undefined where that is no text. */
export function decodeBits(characters: string): string | undefined {
  // A letter of ASCII begins with a zero, so the character that comes first is the zero.
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
