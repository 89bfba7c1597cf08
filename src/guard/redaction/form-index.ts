/** Finds any of many texts in another, however many there are, in one pass over it. */
export interface FormIndex {
  /** Texts of fewer than four characters are not looked for. */
  add(form: string): void;
  /** The longest text there is, less one: what must be known of what came before to find one that was begun there. */
  readonly reach: number;
  /**
   * Where they stand: start and end of each, in order, those that overlap as one. Undefined where there are none. With `unfinished`, an end
   * of the text with which one may begin counts too.
   */
  find(text: string, options?: { readonly unfinished?: boolean }): readonly number[] | undefined;
}

/** Characters by which a text is found: the hash below has room for just as many. */
const WINDOW = 4;
const MASK = 0xff_ff;

/** An index without texts. */
export function createFormIndex(): FormIndex {
  /** Marks the hashes of all beginnings, so that nearly every place is passed with one look. */
  const marked = new Uint8Array(MASK + 1);
  /** By their first characters, longest first. */
  const byStart = new Map<string, string[]>();
  let reach = 0;

  const endAt = (text: string, start: number, unfinished: boolean): number => {
    let end = 0;
    for (const form of byStart.get(text.slice(start, start + WINDOW)) ?? []) {
      if (text.startsWith(form, start)) return Math.max(end, start + form.length);
      // Longest first: a shorter one that is whole reaches no further than this one, which the text's end cuts.
      if (unfinished && start + form.length > text.length && form.startsWith(text.slice(start))) end = text.length;
    }
    return end;
  };

  return {
    add(form) {
      if (form.length < WINDOW) return;
      const start = form.slice(0, WINDOW);
      const others = byStart.get(start) ?? [];
      if (others.includes(form)) return;
      byStart.set(
        start,
        [...others, form].toSorted((a, b) => b.length - a.length),
      );
      marked[hashOf(start)] = 1;
      reach = Math.max(reach, form.length - 1);
    },
    get reach() {
      return reach;
    },
    find(text, { unfinished = false } = {}) {
      if (reach === 0) return undefined;
      let spans: number[] | undefined;
      let hash = 0;
      for (let index = 0; index < text.length; index++) {
        hash = ((hash << 4) ^ text.charCodeAt(index)) & MASK;
        if (marked[hash] === 0 || index < WINDOW - 1) continue;
        const start = index - WINDOW + 1;
        const end = endAt(text, start, unfinished);
        if (end === 0) continue;
        const last = spans?.at(-1) ?? 0;
        if (spans === undefined) spans = [start, end];
        else if (start >= last) spans.push(start, end);
        else if (end > last) spans[spans.length - 1] = end;
      }
      return spans;
    },
  };
}

/** Each character moves those before it four bits up, so that the fifth last has left. */
function hashOf(window: string): number {
  let hash = 0;
  for (let index = 0; index < window.length; index++) hash = ((hash << 4) ^ window.charCodeAt(index)) & MASK;
  return hash;
}
