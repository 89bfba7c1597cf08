/** Matches a reference to a secret, which stays. It is resolved when the secret is needed. */
const SECRET = /^\$\{secret:/;
const REFERENCE = /\$\$\{|\$\{secret:(?:[^{}]|\{(?:principal|tenant)\})*\}|\$\{([^}]*)(\}?)/g;
const INNER = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;
const WHOLE = /^\$\{[^}]*\}$/;

export function hasReference(text: string): boolean {
  return text.includes("${");
}

/** Returns true if the text is exactly one reference. Its value may then be empty, or be converted to a number or a flag. */
export function isWholeReference(text: string): boolean {
  return WHOLE.test(text);
}

/** Reports a reference that cannot be resolved, with the fix. Returns the text to use instead. */
export type RefuseReference = (problem: {
  readonly value: string;
  readonly message: string;
  readonly fix: string;
}) => string;

/** Replaces `${NAME}` and `${NAME:-default}`, and `$${` with `${`. Keeps `${secret:…}`. Reports a variable without value and default. */
export function fillReferences(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  refuse: RefuseReference,
): string {
  return text.replaceAll(REFERENCE, (value: string, inner: string | undefined, end: string | undefined) => {
    if (inner === undefined) return SECRET.test(value) ? value : "${";
    const [, name, fallback] = end === "}" && !inner.includes("${") ? (INNER.exec(inner) ?? []) : [];
    if (name === undefined) {
      const fix = "Write ${NAME} or ${NAME:-default}, and $${ for a literal ${.";
      return refuse({ value, message: `${value} is not a reference to a variable`, fix });
    }
    const found = (Object.hasOwn(environment, name) && environment[name]) || fallback;
    if (found !== undefined) return found;
    const fix = `Set it, or give a default: \${${name}:-value}`;
    return refuse({ value, message: `the environment variable ${name} is not set`, fix });
  });
}
