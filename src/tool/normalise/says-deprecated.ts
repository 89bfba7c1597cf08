import { splitWords } from "../split-words.ts";

/** What a source says of a tool in words. */
interface ToolText {
  /** As the source spells it. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
}

/** A notice stands near the beginning, or nobody would read it. */
const READ_LENGTH = 1_000;

/** What can stand around a notice: brackets, emphasis, quotes, warning signs. No dash: that begins an item of a list. */
const DECORATION = String.raw`[\s*_~\x60>#!"'([\p{So}\uFE0F]*`;
/** The word alone: not `undeprecated`, not `deprecated-API`. */
const WORD = String.raw`(?<![\p{L}\p{N}])deprecated(?![\p{L}\p{N}]|-\p{L})`;
/** What goes on to say what to do, or since when. */
const GOES_ON = String.raw`[\s*_:;,.!\u2013\u2014-]{0,4}\b(?:use|please|see|prefer|instead|replaced|superseded|since|as of|in favou?r|in v?\d|will be|do not|don't|no longer|migrate|switch to|you (?:can|should)|and (?:replaced|superseded|will))\b`;
const THIS = String.raw`this (?:tool|endpoint|method|function|operation|api|command|action|route|call) (?:is|was|has been)(?: now)?`;

/** `Deprecated: …`, `[DEPRECATED] …`, `**Deprecated** …`: the text begins with it, and it is not the first word of a sentence about other things. */
const LEADING = new RegExp(
  String.raw`^${DECORATION}${WORD}(?:$|\s*[:.;!)\]*_\x60\n]|\s+[\u2013\u2014-]|${GOES_ON})`,
  "iu",
);
/** `… as text. DEPRECATED: use read_text_file`: a later sentence that says what to do. */
const LATER = new RegExp(String.raw`[.!?)\n]${DECORATION}${WORD}${GOES_ON}`, "iu");
/** `… as text. DEPRECATED.` */
const CLOSING = /[.!?)] +DEPRECATED[.!]*\s*$/u;
/** `This tool is deprecated.` */
const SENTENCE = new RegExp(String.raw`(?:^|[.!?:)\n])${DECORATION}${THIS} ${WORD}`, "iu");
/** Sphinx and JSDoc. */
const DIRECTIVE = /(?:\.\. deprecated::|(?<![\p{L}\p{N}])@deprecated\b)/iu;
/** `Read a file (deprecated)`, `(private, deprecated by the bank)`: on the first line, where no parameters are described. */
const BRACKETED = /[([]\s*deprecated\s*[)\]]|[([,]\s*deprecated (?:by|since|in favou?r|as of)\b/iu;

/**
 * Tells whether a source says in words that a tool is deprecated. A tool about deprecated things ("Finds deprecated APIs") is not: the word
 * must stand as a notice.
 */
export function saysDeprecated({ name, title = "", description }: ToolText): boolean {
  const text = description.slice(0, READ_LENGTH);
  return isNotice(text) || isNotice(title.slice(0, READ_LENGTH)) || isMarked(name, text);
}

function isNotice(text: string): boolean {
  if (!/deprecated/i.test(text)) return false;
  const [firstLine = ""] = text.trimStart().split("\n", 1);
  return [LEADING, LATER, CLOSING, SENTENCE, DIRECTIVE].some((form) => form.test(text)) || BRACKETED.test(firstLine);
}

/** `stop_DEPRECATED_session`, or `read_file_deprecated` where the description is not about deprecated things. */
function isMarked(name: string, description: string): boolean {
  if (!/deprecated/i.test(name)) return false;
  if (/DEPRECATED/.test(name)) return name !== name.toUpperCase();
  const words = splitWords(name);
  return words.length > 2 && words.at(-1) === "deprecated" && !/deprecated/i.test(description);
}
