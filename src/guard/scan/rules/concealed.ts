import { toExpression } from "./phrases.ts";
import type { Rule, Span } from "./rule.ts";

const HIDING_STYLES =
  "display ?: ?none|visibility ?: ?hidden|(opacity|font-size) ?: ?0(?![.\\d]*[1-9])|(left|top|text-indent) ?: ?-\\d{3,5}|" +
  "color ?: ?(white|#fff(fff)?|transparent)\\b|clip ?: ?rect\\(0";
const HIDDEN = toExpression([
  // Excludes images that load lazily, which contain no text.
  `<[a-z][\\w-]{0,20} [^<>]{0,200}(${HIDING_STYLES})[^<>]{0,200}>(?! ?<(img|svg|path)\\b)`,
  "<[a-z][\\w-]{0,20} ([^<>]{0,100} )?hidden( ?= ?[\"']?(hidden|true)?[\"']?)? ?>",
  // A Markdown link definition that no text refers to.
  "(?<![^\\n])[ \\t]{0,3}\\[(//|comment|_|\\^|#|\\.)\\]: ?(#|<>)? ?[\"'(][^\\n]{3,500}",
]);
/** Matches a comment, except those that address tools. */
const COMMENT = toExpression([
  "<!--(?! ?(prettier|markdownlint|eslint|toc\\b|all-contributors|release-please|!\\[|https?:))[^<>]{1,2000}",
]);
/** Words that address a model or describe its abilities. Notes between authors have no such words. */
const SPEAKS_TO_MODEL = toExpression([
  "you|your|assistant|agent|ai|llm|models?|users?|tools?|instructions?|conversation|system|ignore|disregard|override",
  "bypass|always|never|before (using|responding|answering)|call|execute|curl|include|append|reveal|send|forward|post",
  "exfil\\w*|secrets?|credentials?|passwords?|api keys?",
]);
const GAP = /\s{48,}/g;

/** Returns true for a gap that pushes the following text off the screen. Tables also have gaps, but a rule or a bar follows them. */
function floods(text: string, { start, end }: Span): boolean {
  if (start === 0 || end === text.length || /[|+-]/.test(text.charAt(end))) return false;
  const gap = text.slice(start, end);
  return gap.length >= 120 ? gap.includes("\n") || gap.length >= 160 : gap.split("\n").length > 24;
}

/** Finds text that is in the source but not on the page. */
export const CONCEALED_RULES: readonly Rule[] = [
  {
    id: "hidden.style",
    category: "hidden-text",
    severity: "medium",
    message: "Contains markup that hides its content from readers of the page.",
    find: (text) => text.all(HIDDEN)[0],
  },
  {
    id: "hidden.comment",
    category: "hidden-text",
    severity: "medium",
    message: "Addresses a model in a comment that people do not see.",
    find: (text) => {
      const spoken = text.all(SPEAKS_TO_MODEL);
      return text.all(COMMENT).find(({ start, end }) => spoken.some((word) => word.start >= start && word.end <= end));
    },
  },
  {
    id: "hidden.flood",
    category: "hidden-text",
    severity: "medium",
    message: "Pushes text out of sight with a flood of white space.",
    find: (text) => text.all(GAP).find((gap) => floods(text.text, gap)),
  },
];
