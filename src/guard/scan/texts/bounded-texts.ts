import { mapTexts, type TextVisit } from "./value-texts.ts";

/**
 * So many characters of a value are read, half of them at its beginning and half at its end, however large it is: about an eighth of a second
 * of work. Who wants to be read by a model stands where models look first and last.
 */
export const READ_CHARACTERS: number = 256 * 1024;
const HALF = READ_CHARACTERS / 2;

/** The texts of a value, one after another as a model reads them, so that what is spread over several is found as well. */
export interface BoundedTexts {
  readonly text: string;
  /** Characters of all texts together. */
  readonly total: number;
  /** Characters that were left out, in the middle. */
  readonly unread: number;
  /** Where each kind of text begins. */
  readonly starts: Readonly<Record<TextKind, number>>;
}

/** Prose is a result that is one text, and the texts in the content of MCP's results. It is read first, then other data, then names of members. */
export type TextKind = "prose" | "data" | "name";

/** What kind of text stands there. */
export function kindOf(path: string, name: boolean): TextKind {
  if (name) return "name";
  return path === "" || /^content\.\d+\.(?:resource\.)?text$/.test(path) ? "prose" : "data";
}

/** Gathers what is read of a value. Throws on data that is too large to walk through. */
export function gatherTexts(value: unknown): BoundedTexts {
  const texts: Record<TextKind, string[]> = { prose: [], data: [], name: [] };
  mapTexts(value, (text, path, name) => {
    texts[kindOf(path, name)].push(text);
    return text;
  });
  const prose = lines(texts.prose);
  const data = lines(texts.data);
  const all = prose + data + lines(texts.name);
  const starts = { prose: 0, data: prose.length, name: prose.length + data.length };
  if (all.length <= READ_CHARACTERS) return { text: all, total: all.length, unread: 0, starts };
  const text = `${all.slice(0, HALF)}\n${all.slice(-HALF)}`;
  return { text, total: all.length, unread: all.length - READ_CHARACTERS, starts };
}

function lines(texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${texts.join("\n")}\n`;
}

/** The value with each text cleaned as far as it is read; `texts` is what `gatherTexts` found in it. */
export function cleanTexts(value: unknown, { total, starts }: BoundedTexts, clean: TextVisit): unknown {
  const offsets = { ...starts };
  return mapTexts(value, (text, path, name) => {
    const kind = kindOf(path, name);
    const head = boundary(text, HALF - offsets[kind]);
    const tail = boundary(text, total - HALF - offsets[kind]);
    offsets[kind] += text.length + 1;
    if (tail <= head) return clean(text, path, name);
    if (head === 0 && tail === text.length) return text;
    return clean(text.slice(0, head), path, name) + text.slice(head, tail) + clean(text.slice(tail), path, name);
  });
}

/** A place inside the text that cuts no character in two. */
function boundary(text: string, at: number): number {
  const place = Math.min(Math.max(at, 0), text.length);
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff && place > 0 ? place + 1 : place;
}
