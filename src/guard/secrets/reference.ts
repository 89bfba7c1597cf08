/** The location of a secret: an environment variable, a file, the system keychain, or a function that fetches it. */
export type SecretReference =
  | `env:${string}`
  | `file:${string}`
  | `keychain:${string}`
  | ((options: { readonly signal?: AbortSignal }) => string | Promise<string>);

/** A parsed reference. It may still contain `{principal}` and `{tenant}`. */
export type ReadReference =
  | { readonly kind: "env"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "keychain"; readonly service: string; readonly account: string };

/** Replaced by the caller's name or tenant. */
const PLACEHOLDER = "\\{(?:principal|tenant)\\}";
const INSIDE = new RegExp(`\\$\\{secret:((?:[^{}]|${PLACEHOLDER})*)\\}`, "g");
const PER_CALLER = new RegExp(PLACEHOLDER);
const ENV_NAME = new RegExp(`^(?:[A-Za-z_]|${PLACEHOLDER})(?:[A-Za-z0-9_]|${PLACEHOLDER})*$`);
/** Matches absolute paths only. `file:./dev.db` and `file:///data/dev.db` are database addresses, which many servers accept. */
const WHOLE_PATH = /^(?:\/(?!\/)|~\/|[A-Za-z]:[\\/])/;

/** Parses a text as a reference; undefined if it is not one. */
export function readReference(text: string): ReadReference | undefined {
  const colon = text.indexOf(":");
  const rest = text.slice(colon + 1);
  switch (text.slice(0, Math.max(0, colon))) {
    case "env":
      return ENV_NAME.test(rest) ? { kind: "env", name: rest } : undefined;
    case "file":
      return WHOLE_PATH.test(rest) ? { kind: "file", path: rest } : undefined;
    case "keychain": {
      const slash = rest.indexOf("/");
      const [service, account] = [rest.slice(0, Math.max(0, slash)), rest.slice(slash + 1)];
      return service !== "" && account !== "" ? { kind: "keychain", service, account } : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns true if the text is a reference, or contains one as `${secret:…}`. */
export function hasSecret(text: string): boolean {
  return text.includes("${secret:") || readReference(text) !== undefined;
}

/** Returns true if each caller has a different secret under this reference. */
export function isPerCaller(text: string): boolean {
  return referencesIn(text).some((reference) => PER_CALLER.test(reference));
}

export function referencesIn(text: string): readonly string[] {
  return readReference(text) === undefined ? Array.from(text.matchAll(INSIDE), ([, inner = ""]) => inner) : [text];
}

/** Replaces each reference inside a text with its value. */
export function replaceReferences(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(INSIDE, (written: string, inner: string) => values.get(inner) ?? written);
}

/** Reports why a reference could not be resolved, and how to fix it. Contains no part of a secret. */
export class Missing extends Error {
  readonly fix: string;

  constructor(reason: string, fix: string) {
    super(reason);
    this.fix = fix;
  }
}
