const PATTERNS: readonly { readonly found: (text: string) => boolean; readonly what: string }[] = [
  { found: hasPlaceholder, what: "a template placeholder {{…}}" },
  { found: (text) => /<script/i.test(text), what: "a <script tag" },
  { found: (text) => /javascript:/i.test(text), what: "a javascript: address" },
];

/** What in a description looks like an attempt at whoever renders or fills it in, in words; undefined where nothing does. */
export function suspiciousText(text: string): string | undefined {
  return PATTERNS.find(({ found }) => found(text))?.what;
}

/** `{{` and a later `}}` on one line. Not a regular expression, which would take quadratic time on a long row of braces. */
function hasPlaceholder(text: string): boolean {
  if (!text.includes("{{")) return false;
  return text.split("\n").some((line) => {
    const start = line.indexOf("{{");
    return start >= 0 && line.lastIndexOf("}}") >= start + 2;
  });
}
