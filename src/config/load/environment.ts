import { fixable } from "../../errors/arsenal-error.ts";

/** A reference to a secret stays as it is: it is looked up when the secret is needed. */
const SECRET = /^\$\{secret:/;
const REFERENCE = /\$\$\{|\$\{secret:(?:[^{}]|\{(?:principal|tenant)\})*\}|\$\{([^}]*)(\}?)/g;
const INNER = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/;
const WHOLE = /^\$\{[^}]*\}$/;

/** Whether the text has a reference to replace. */
export function hasReference(text: string): boolean {
  return text.includes("${");
}

/** Whether the text is one reference and nothing else, so that it may stand for a number, a flag or nothing. */
export function isWholeReference(text: string): boolean {
  return WHOLE.test(text);
}

/** Replaces `${NAME}` and `${NAME:-default}` by environment variables; `$${` becomes `${`, and `${secret:…}` stays. Throws if a variable has neither value nor default. */
export function fillReferences(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  field: string,
): string {
  return text.replaceAll(REFERENCE, (reference: string, inner: string | undefined, end: string | undefined) => {
    const refuse = (problem: string, fix: string): Error =>
      fixable("CONFIG_INVALID", `${field}: ${problem}`, fix, { field, value: reference });
    if (inner === undefined) return SECRET.test(reference) ? reference : "${";
    const [, name, fallback] = end === "}" && !inner.includes("${") ? (INNER.exec(inner) ?? []) : [];
    if (name === undefined) {
      const fix = "Write ${NAME} or ${NAME:-default}, and $${ for a literal ${.";
      throw refuse(`${reference} is no reference to a variable.`, fix);
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined && value !== "") return value;
    if (fallback !== undefined) return fallback;
    const fix = `Set it, or give a default: \${${name}:-value}`;
    throw refuse(`the environment variable ${name} is not set.`, fix);
  });
}
