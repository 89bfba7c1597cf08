/** Finds any of many texts in another, however many there are, in one pass over it. */
export interface FormIndex {
  /** Takes texts of at least four characters. */
  add(form: string): void;
  /** With `unfinished`, an end of the text with which one of them may begin counts too, if it has four characters. */
  find(text: string, unfinished: boolean): Found;
}

/** Where texts were found. */
export interface Found {
  /** Start and end of each in turn, in order, those that overlap as one. */
  readonly spans: readonly number[];
  /** Where the one begins that the text's end cuts off; the text's length where there is none. */
  readonly open: number;
}

/** Characters by which a text is found: the hash below has room for just as many. */
const WINDOW = 4;
const MASK = 0xff_ff;

/** An index without texts. */
export function createFormIndex(): FormIndex {
  /** Marks the hashes of all beginnings, so that nearly every place is passed with one look. */
  const marked = new Uint8Array(MASK + 1);
  /** By the hash of their beginning, in order: many keys begin alike, and a text may be full of that beginning. */
  const byHash = new Map<number, string[]>();
  let longest = 0;

  return {
    add(form) {
      let hash = 0;
      for (let index = 0; index < WINDOW; index++) hash = nextHash(hash, form, index);
      const others = byHash.get(hash) ?? [];
      others.splice(placeAfter(others, form), 0, form);
      byHash.set(hash, others);
      marked[hash] = 1;
      longest = Math.max(longest, form.length);
    },
    find(text, unfinished) {
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

/** Each character moves those before it four bits up, so that the fifth last has left. */
function nextHash(hash: number, text: string, index: number): number {
  return ((hash << 4) ^ text.charCodeAt(index)) & MASK;
}

/** The length of the longest of the forms with which the text begins; 0 where it begins with none. */
function longestIn(forms: readonly string[], text: string): number {
  let beginning = text;
  for (;;) {
    const before = forms[placeAfter(forms, beginning) - 1];
    if (before === undefined) return 0;
    const shared = sharedLength(before, beginning);
    if (shared === before.length) return shared;
    // In order, a form with which this begins stands between itself and `before`, so that `before` begins with it too.
    beginning = beginning.slice(0, shared);
  }
}

/** How many of the forms, which are in order, stand before the text or are it. */
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
  // Past the end there is no number, which is not equal even to itself.
  while (one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
}
