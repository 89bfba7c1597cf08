export const REDACTED = "[redacted]";

/** Matches only at the start of a word. Each pattern is then tried once per word, and random matches inside hashes are ignored. */
const WORD_START = "(?<![A-Za-z0-9_-])";
/** Real keys have digits; words joined by dashes do not. */
const WITH_DIGIT = "(?=[A-Za-z_-]{0,200}[0-9])";

/** Credentials that can be recognised by their form alone, by issuer. */
export const PATTERNS: readonly string[] = [
  // AWS
  `${WORD_START}(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])`,
  // GitHub, GitLab, npm
  `${WORD_START}gh[pousr]_[A-Za-z0-9]{30,}`,
  `${WORD_START}github_pat_[A-Za-z0-9_]{22,}`,
  `${WORD_START}glpat-${WITH_DIGIT}[A-Za-z0-9_-]{20,}`,
  `${WORD_START}npm_[A-Za-z0-9]{36}`,
  // Slack
  `${WORD_START}xox[abeoprs]-${WITH_DIGIT}[A-Za-z0-9-]{10,}`,
  // OpenAI, Anthropic and compatible providers; Stripe
  `${WORD_START}sk-${WITH_DIGIT}[A-Za-z0-9_-]{20,}`,
  `${WORD_START}[rs]k_(?:live|test)_[A-Za-z0-9]{16,}`,
  // Google
  `${WORD_START}AIza[A-Za-z0-9_-]{35}`,
  // JSON Web Tokens
  `${WORD_START}eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]*`,
  // Private keys, including truncated ones
  `-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\\s\\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)`,
  // Any other bearer token
  `(?<=${WORD_START}[Bb]earer )(?=[A-Za-z._~+/-]{0,200}[0-9])[A-Za-z0-9._~+/-]{16,}=*`,
];

const ANY = new RegExp(PATTERNS.join("|"), "g");

/** Every text that matches a pattern also matches this expression, which is faster. Most texts do not match it. */
const HINT = /AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|npm_|xox|sk-|k_live_|k_test_|AIza|eyJ|PRIVATE KEY|earer /;

/** The shortest text that a pattern matches: `xoxb-` and ten characters. */
const MIN_PATTERN_LENGTH = 15;

/** Returns false if no pattern matches the text. True is inconclusive. */
export function hasHint(text: string): boolean {
  return text.length >= MIN_PATTERN_LENGTH && HINT.test(text);
}

/** Pairs of start and end of text that looks like a credential. */
export function findPatterns(text: string): readonly number[] {
  if (!hasHint(text)) return [];
  const spans: number[] = [];
  for (const { index, 0: found } of text.matchAll(ANY)) spans.push(index, index + found.length);
  return spans;
}
