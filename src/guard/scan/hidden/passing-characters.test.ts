import { describe, expect, it } from "vitest";
import { normaliseText } from "./normalise-text.ts";

const passes = (text: string): boolean => normaliseText(text).findings.length === 0;

describe("an invisible character passes where its neighbours need it", () => {
  it.each([
    ["a joiner between emoji", "\u{1F469}\u200D\u{1F4BB}"],
    ["a joiner after the colour of a skin", "\u{1F469}\u{1F3FD}\u200D\u{1F4BB}"],
    ["a joiner after an emoji style", "\u2764\uFE0F\u200D\u{1F525}"],
    ["a joiner after a letter that joins", "क्\u200D a"],
    ["a joiner before a letter that joins", "a \u200Dम"],
    ["a non-joiner after such a letter", "م\u200C a"],
    ["a non-joiner before such a letter", "a \u200Cم"],
    ["a zero-width space after a letter of a script without spaces", "ไทย\u200B a"],
    ["a zero-width space before such a letter", "a \u200Bไทย"],
    ["a grapheme joiner after a Hebrew letter", "ש\u034F"],
    ["a vowel separator in Mongolian", "ᠮ\u180E"],
    ["invisible application of a function", "2\u2061x"],
    ["an invisible plus after a bracket", "(a)\u2064b"],
    ["an invisible separator after a sign", "=\u2063b"],
    ["a mark at the beginning", "\uFEFFa"],
    ["emoji style of a sign", "\u2600\uFE0F"],
    ["text style of a sign", "\u2600\uFE0E"],
    ["a glyph of an ideograph", "葛\u{E0100}"],
    ["a standard variant of an ideograph", "葛\uFE00"],
    ["a variant of a mathematical sign", "\u2229\uFE00"],
    ["a variant of a comma", "\u3001\uFE00"],
    ["a variant of a Mongolian letter", "ᠮ\u180B"],
    ["a filler beside Hangul", "\u115Fᅡ"],
    ["a filler after Hangul", "가\uFFA0"],
    ["blanks beside Braille", "\u2813\u2800\u2800a"],
    ["an inherent vowel of Khmer", "ក\u17B4"],
    ["a mark of direction in Hebrew", "שלום\u200E"],
    ["an isolate in Arabic", "\u2066a\u2069 نص"],
    ["a soft hyphen", "Donau\u00ADdampf"],
    ["three soft hyphens that are apart", "Donau\u00ADdampf\u00ADschiff\u00ADfahrt"],
    ["a flag that is written with tags", "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"],
  ])("%s", (_, text) => {
    expect(passes(text)).toBe(true);
  });
});

describe("and nowhere else", () => {
  it.each([
    ["a joiner after an emoji, before a letter", "\u{1F469}\u200Da"],
    ["a joiner after a letter, before an emoji", "a\u200D\u{1F4BB}"],
    ["a joiner at the end", "\u{1F469}\u200D"],
    ["a joiner between Latin letters", "a\u200Db"],
    ["two joiners between emoji", "\u{1F469}\u200D\u200D\u{1F4BB}"],
    ["a non-joiner between emoji", "\u{1F469}\u200C\u{1F4BB}"],
    ["a non-joiner in Thai", "ไทย\u200Cไทย"],
    ["a zero-width space between Arabic letters", "م\u200Bم"],
    ["a grapheme joiner before a Hebrew letter", "a\u034Fש"],
    ["invisible times after a letter", "a\u2062b"],
    ["a word joiner between figures", "2\u20603"],
    ["a mark in the middle", "a\uFEFFb"],
    ["emoji style of a letter", "a\uFE0F"],
    ["text style of a letter", "a\uFE0E"],
    ["a glyph of a letter that has one", "a\u{E0100}"],
    ["a glyph selector after a sign", "\u2229\u{E0100}"],
    ["a standard variant of a letter", "a\uFE00"],
    ["emoji style of an ideograph", "葛\uFE0F"],
    ["a Mongolian variant of a letter", "a\u180B"],
    ["an ordinary variant of a Mongolian letter", "ᠮ\uFE00"],
    ["a filler beside Latin", "a\u115Fb"],
    ["two fillers beside Hangul", "가\uFFA0\uFFA0"],
    ["another filler beside Hangul", "가\u3164"],
    ["blanks of Braille beside Latin", "a\u2800b"],
    ["an inherent vowel beside Latin", "a\u17B4"],
    ["two of them in Khmer", "ក\u17B4\u17B5"],
    ["a mark of direction without such text", "a\u200Eb"],
    ["an isolate where only an invisible mark is Arabic", "a\u061C \u2066b\u2069"],
    ["a joiner beside such a mark", "م \u061C\u200Da"],
    ["an override in Arabic", "نص \u202Ea"],
    ["the other override in Arabic", "نص \u202Da"],
    ["a deprecated control in Arabic", "نص \u206Aa"],
    ["three soft hyphens within a few letters", "r\u00ADe\u00ADa\u00ADd"],
    ["tags after a flag that does not end", "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}"],
    ["a flag with too many tags", `\u{1F3F4}${"\u{E0067}".repeat(7)}\u{E007F}`],
    ["tags right after a flag", "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}\u{E0061}"],
    ["tags before a flag", "\u{E0061} \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"],
    ["three soft hyphens in a row", "a\u00AD\u00AD\u00ADb"],
    ["blanks of Braille before another filler", "\u2813\u2800\u3164"],
    ["blanks of Braille after another filler", "\u2813\u3164\u2800\u2813"],
    ["tags behind a flag", "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E007F}a\u{E0061}"],
  ])("%s", (_, text) => {
    expect(passes(text)).toBe(false);
  });
});
