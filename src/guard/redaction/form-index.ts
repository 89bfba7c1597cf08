import { unescapeOnce } from "./unescaped.ts";

export interface FormMatches {
  /** Pairs of start and end, in order; overlapping spans are merged. */
  readonly spans: readonly number[];
  /** The start of a form that continues after the end of the text; the text's length if there is none. */
  readonly open: number;
}

/** The number of characters that the hash covers: 16 bits at four bits per character. */
const WINDOW = 4;
const MASK = 0xff_ff;

/** Finds any of many texts in another, in one pass over it. */
export function createFormIndex() {
  /** Marks the hashes of all form prefixes, so that most positions take one lookup. */
  const marked = new Uint8Array(MASK + 1);
  /** Forms by the hash of their prefix, sorted: many keys have the same prefix, and a text may repeat that prefix many times. */
  const byHash = new Map<number, string[]>();
  let longest = 0;

  return {
    /** Adds a text of at least four characters. */
    add(form: string): void {
      let hash = 0;
      for (let index = 0; index < WINDOW; index++) hash = nextHash(hash, form, index);
      const others = byHash.get(hash) ?? [];
      others.splice(placeAfter(others, form), 0, form);
      byHash.set(hash, others);
      marked[hash] = 1;
      longest = Math.max(longest, form.length);
    },
    /** Returns false if the text contains no complete form. True means that it may contain one. */
    mayFind(text: string): boolean {
      if (longest === 0) return false;
      let hash = 0;
      for (let index = 0; index < text.length; index++) {
        hash = nextHash(hash, text, index);
        if (marked[hash] === 1 && index >= WINDOW - 1) return true;
      }
      return false;
    },
    /** Finds all forms. With `unfinished`, also finds a form of which the text contains only the start, if that has four characters. */
    find(text: string, unfinished: boolean): FormMatches {
      const spans: number[] = [];
      let last = 0;
      let hash = 0;
      for (let index = 0; index < text.length; index++) {
        hash = nextHash(hash, text, index);
        if (marked[hash] === 0 || index < WINDOW - 1) continue;
        const forms = byHash.get(hash) ?? [];
        const start = index - WINDOW + 1;
        const rest = text.slice(start, start + longest);
        const isCut = unfinished && forms[placeAfter(forms, rest)]?.startsWith(rest) === true;
        const end = isCut ? text.length : start + longestIn(forms, rest);
        if (end <= Math.max(start, last)) continue;
        if (start < last) spans[spans.length - 1] = end;
        else spans.push(start, end);
        last = end;
        if (isCut) return { spans, open: start };
      }
      return { spans, open: text.length };
    },
  };
}

/** Each character shifts the hash by four bits, so it covers only the last four characters. */
function nextHash(hash: number, text: string, index: number): number {
  return ((hash << 4) ^ text.charCodeAt(index)) & MASK;
}

/** Returns the length of the longest form that is a prefix of the text; 0 if there is none. */
function longestIn(forms: readonly string[], text: string): number {
  let beginning = text;
  for (;;) {
    const before = forms[placeAfter(forms, beginning) - 1];
    if (before === undefined) return 0;
    const shared = sharedLength(before, beginning);
    if (shared === before.length) return shared;
    // In sorted order, a prefix of this text lies between itself and `before`, so it is also a prefix of `before`.
    beginning = beginning.slice(0, shared);
  }
}

/** Returns the number of sorted forms that are less than or equal to the text. */
function placeAfter(forms: readonly string[], text: string): number {
  let [low, high] = [0, forms.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((forms[middle] ?? "") <= text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  // `charCodeAt` past the end returns NaN, which never equals itself.
  while (one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
}

/** Shorter secrets would match inside ordinary words. */
export const MIN_SECRET_LENGTH = 6;

/** A line of a secret with at least this length is also treated as a secret, because logs are written and read line by line. */
const MIN_LINE = 16;

/** Returns every form in which a secret can appear, after escapes are undone: plain, in hex, and in base64, once or twice. */
export function formsOf(secret: string): ReadonlySet<string> {
  const forms = new Set<string>();
  for (const text of textsOf(secret)) {
    const encoded = new URLSearchParams([["", text]]).toString().slice(1);
    // The content of base64 may itself be escaped, such as a member of a token or the password of an OAuth client.
    const inside = new Set([text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed()), encoded]);
    // In URL-encoded forms, a space is `+`.
    const hex = Buffer.from(text).toString("hex");
    const all = [text, text.replaceAll(" ", "+"), hex, hex.toUpperCase(), ...[...inside].flatMap(inBase64)];
    for (const form of all) forms.add(form);
  }
  return forms;
}

/** Returns the texts that reveal the secret: the secret, its unescaped form, and its long lines. */
function textsOf(secret: string): ReadonlySet<string> {
  const texts = new Set([secret, secret.toWellFormed(), secret.normalize("NFC"), secret.normalize("NFD")]);
  // The loop also visits texts that it adds.
  for (const text of texts) {
    const { text: plainer = "" } = unescapeOnce(text) ?? {};
    if (plainer.length >= MIN_SECRET_LENGTH) texts.add(plainer);
    for (const line of text.split(/\r?\n/)) if (line.length >= MIN_LINE) texts.add(line);
  }
  return texts;
}

/** Returns the base64 of the secret, padded and not, and inside other data. Also twice: Docker and Kubernetes store base64 of base64. */
function inBase64(text: string): readonly string[] {
  const whole = Buffer.from(text).toString("base64");
  const inside = insideBase64(text);
  const twice = [Buffer.from(whole).toString("base64"), ...inside.flatMap(insideBase64)];
  const forms = [whole, whole.replace(/=+$/, ""), ...inside, ...twice];
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** Returns the base64 characters that depend only on the text, for each of the three alignments in a group of three bytes. */
function insideBase64(text: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  });
}
