import { either, pattern, sequence, words, type Rule } from "./rule.ts";

const STYLE_HIDDEN =
  /<[a-z][\w-]{0,20}\s[^<>]{0,200}(?:display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden|opacity\s{0,4}:\s{0,4}0(?![.\d]*[1-9])|font-size\s{0,4}:\s{0,4}0(?![.\d]*[1-9])|(?:left|top|text-indent)\s{0,4}:\s{0,4}-\d{3,5}|color\s{0,4}:\s{0,4}(?:white|#fff(?:fff)?|transparent)\b|clip\s{0,4}:\s{0,4}rect\(0)[^<>]{0,200}>|<[a-z][\w-]{0,20}\s{1,4}(?:[^<>]{0,100}\s)?hidden(?:\s{0,4}=\s{0,4}["']?(?:hidden|true)?["']?)?\s{0,4}>/gi;
const REFERENCE = /^[ \t]{0,3}\[(?:\/\/|comment|_|\^|#|\.)\]:\s{0,4}(?:#|<>)?\s{0,4}["'(][^\n]{3,500}/gim;
const COMMENT_START = /<!--/g;
/** Words that speak to a model, or of what it can do. A note between authors has none of them. */
const SPEAKS_TO_MODEL = words(
  "you|your|assistant|agent|ai|llm|models?|users?|tools?|instructions?|ignore|disregard|send|forward|post",
  "call|execute|run|reveal|include|append|fetch|secrets?|credentials?|passwords?|api keys?|curl|https?|system",
  "override|bypass|always|never|conversation|before (?:using|responding|answering)|exfil\\w*|read",
);
const FLOOD = /\n(?:[ \t]{0,80}\n){24,}[^\n]{0,80}\S|\S[ \t\u00A0\u2000-\u200A\u3000]{120,}[^\s|+-]{1,20}/g;

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
    find: sequence([COMMENT_START, SPEAKS_TO_MODEL], 200),
  },
  {
    id: "hidden.flood",
    category: "hidden-text",
    severity: "medium",
    message: "Pushes text out of sight with a flood of white space.",
    find: pattern(FLOOD),
  },
];
