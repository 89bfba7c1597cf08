/** BERT's uncased normaliser for single characters. Unicode lookups are slow, so results are cached. */

/** Marks a character that is a word of its own, such as punctuation and CJK, in the normalised text. */
export const ALONE = "\u0001";

/** Returns the normalised text of a character: nothing for a dropped character, a space for white space. */
export type Normalise = (codePoint: number) => string;

const CONTROL = /^[\p{Cc}\p{Cf}\p{Co}\p{Cs}]$/u;
const SPACE = /^\p{White_Space}$/u;
const ACCENTS = /\p{Mn}/gu;
/** ASCII symbols count as punctuation, whatever their Unicode category. */
const PUNCTUATION = /^[!-/:-@[-`{-~\p{P}]$/u;
const IDEOGRAPH =
  /[\u{3400}-\u{4dbf}\u{4e00}-\u{9fff}\u{f900}-\u{faff}\u{20000}-\u{2a6df}\u{2a700}-\u{2b81f}\u{2b920}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/u;

/** Creates the lookup with a cache of its own. On real text, it stays below a few thousand characters. */
export function createNormaliser(): Normalise {
  const ascii = Array.from({ length: 128 }, (_, codePoint) => normaliseCharacter(codePoint));
  const others = new Map<number, string>();
  return (codePoint) => {
    if (codePoint < 128) return ascii[codePoint] ?? "";
    let known = others.get(codePoint);
    if (known === undefined) {
      known = normaliseCharacter(codePoint);
      others.set(codePoint, known);
    }
    return known;
  };
}

function normaliseCharacter(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  if (character === "\t" || character === "\n" || character === "\r") return " ";
  if (codePoint >= 128) {
    const kind = referenceKind(codePoint);
    if (kind === "letter") return character.toLowerCase();
    if (kind === "accent") return "";
    if (kind === "punctuation") return ALONE + character;
  }
  if (codePoint === 0 || codePoint === 0xfffd || CONTROL.test(character)) return "";
  if (SPACE.test(character)) return " ";
  const alone = IDEOGRAPH.test(character);
  let text = "";
  // Each character is lower-cased on its own, like in the reference. A final sigma is therefore a plain sigma.
  for (const part of character.normalize("NFD").replace(ACCENTS, "")) {
    for (const lower of part.toLowerCase()) {
      if (SPACE.test(lower)) text += " ";
      else if (alone || PUNCTUATION.test(lower)) text += ALONE + lower;
      else text += lower;
    }
  }
  return text;
}

/** Characters (hexadecimal) that the reference tokenizer treats as letters, because its Unicode tables are older than Node's. */
const NEWER = `
61d 7fd 890-891 897-89f 8ca-8e2 9fd-9fe a76 afa-aff b55 c04 c3c c77 c84 d00 d3b-d3c d81 eba ece 180f 1885-1886
1abf-1add 1ae0-1aeb 1b4e-1b4f 1b7d-1b7f 1df6-1dfb 2e43-2e4f 2e52-2e5d a82c a8c5 a8ff a9bd 10d24-10d27
10d69-10d6e 10eab-10ead 10ed0 10efa-10eff 10f46-10f50 10f55-10f59 10f82-10f89 11070 11073-11074 110c2 110cd
111cf 1123e 11241 1133b 113bb-113c0 113ce 113d0 113d2 113d4-113d5 113d7-113d8 113e1-113e2 11438-1143f
11442-11444 11446 1144b-1144f 1145a-1145b 1145d-1145e 11660-1166c 116b9 1182f-11837 11839-1183b 1193b-1193c
1193e 11943-11946 119d4-119d7 119da-119db 119e0 119e2 11a01-11a0a 11a33-11a38 11a3b-11a47 11a51-11a56
11a59-11a5b 11a8a-11a96 11a98-11a9c 11a9e-11aa2 11b00-11b09 11b60 11b62-11b64 11b66 11be1 11c30-11c36
11c38-11c3d 11c3f 11c41-11c45 11c70-11c71 11c92-11ca7 11caa-11cb0 11cb2-11cb3 11cb5-11cb6 11d31-11d36 11d3a
11d3c-11d3d 11d3f-11d45 11d47 11d90-11d91 11d95 11d97 11ef3-11ef4 11ef7-11ef8 11f00-11f01 11f36-11f3a 11f40
11f42-11f4f 11f5a 11fff 12ff1-12ff2 13430-13440 13447-13455 1611e-16129 1612d-1612f 16d6d-16d6f 16e97-16e9a
16f4f 16fe2 16fe4 1cf00-1cf2d 1cf30-1cf46 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e08f
1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e5ee-1e5ef 1e5ff 1e6e3 1e6e6 1e6ee-1e6ef 1e6f5 1e944-1e94a
1e95e-1e95f
`;

const NEWER_RANGES = NEWER.trim()
  .split(/\s/)
  .map((range) => range.split("-").map((part) => Number.parseInt(part, 16)));

/** Returns the reference's category of a character if it differs from Node's Unicode; undefined if both agree. */
function referenceKind(codePoint: number): "letter" | "accent" | "punctuation" | undefined {
  // The Unicode category of these characters has changed since.
  if (codePoint === 0x1734 || codePoint === 0x1171e) return "accent";
  if (codePoint === 0x166d || codePoint === 0x111c9) return "punctuation";
  // Results are cached, so a linear search is fast enough.
  return NEWER_RANGES.some(([first = 0, last = first]) => codePoint >= first && codePoint <= last)
    ? "letter"
    : undefined;
}
