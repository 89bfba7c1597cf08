import { words } from "./phrases.ts";
import { either, pattern, type Rule, type Span } from "./rule.ts";

const STYLE_HIDDEN =
  /<[a-z][\w-]{0,20}\s[^<>]{0,200}(?:display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden|opacity\s{0,4}:\s{0,4}0(?![.\d]*[1-9])|font-size\s{0,4}:\s{0,4}0(?![.\d]*[1-9])|(?:left|top|text-indent)\s{0,4}:\s{0,4}-\d{3,5}|color\s{0,4}:\s{0,4}(?:white|#fff(?:fff)?|transparent)\b|clip\s{0,4}:\s{0,4}rect\(0)[^<>]{0,200}>(?!\s{0,4}<(?:img|svg|path)\b)|<[a-z][\w-]{0,20}\s{1,4}(?:[^<>]{0,100}\s)?hidden(?:\s{0,4}=\s{0,4}["']?(?:hidden|true)?["']?)?\s{0,4}>/gi;
const REFERENCE = /^[ \t]{0,3}\[(?:\/\/|comment|_|\^|#|\.)\]:\s{0,4}(?:#|<>)?\s{0,4}["'(][^\n]{3,500}/gim;
const COMMENT = /<!--[^<>]{1,2000}/g;
/** What programs leave in comments for other programs. */
const PRAGMA = /^<!--\s{0,8}(?:prettier|markdownlint|eslint|toc\b|all-contributors|release-please|!\[|https?:)/i;
/** Words that speak to a model, or of what it can do. A note between authors has none of them. */
const SPEAKS_TO_MODEL = words(
  "you|your|assistant|agent|ai|llm|models?|users?|tools?|instructions?|ignore|disregard|send|forward|post",
  "call|execute|reveal|include|append|secrets?|credentials?|passwords?|api keys?|curl|system",
  "override|bypass|always|never|conversation|before (?:using|responding|answering)|exfil\\w*",
);
const GAP = /\s{48,}/g;

/** True for a gap that pushes what follows off the screen. Tables have gaps too, and go on with a rule or a bar. */
function floods(text: string, { start, end }: Span): boolean {
  if (start === 0 || end === text.length || /[|+-]/.test(text.charAt(end))) return false;
  const gap = text.slice(start, end);
  return gap.length >= 120 ? gap.includes("\n") || gap.length >= 160 : gap.split("\n").length > 24;
}

/** Text that is in the source and not on the page. */
export const CONCEALED_RULES: readonly Rule[] = [
  {
    id: "hidden.style",
    category: "hidden-text",
    severity: "medium",
    message: "Has markup that hides its content from whoever looks at the page.",
    find: either(pattern(STYLE_HIDDEN), pattern(REFERENCE)),
  },
  {
    id: "hidden.comment",
    category: "hidden-text",
    severity: "medium",
    message: "Speaks to a model in a comment that a person does not see.",
    find: (text) => {
      const spoken = text.all(SPEAKS_TO_MODEL);
      return text
        .all(COMMENT)
        .find(
          ({ start, end }) =>
            !PRAGMA.test(text.text.slice(start, start + 60)) &&
            spoken.some((word) => word.start >= start && word.end <= end),
        );
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
