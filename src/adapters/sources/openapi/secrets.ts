import { ArsenalError } from "../../../errors/arsenal-error.ts";

/** Where a secret is found: `env:NAME`, or a function that fetches it. The secret itself is never written into settings. */
export type SecretReference =
  | `env:${string}`
  | ((options: { readonly signal: AbortSignal }) => string | Promise<string>);

/** Looks secrets up when they are needed. */
export interface Secrets {
  /** Throws CONFIG_INVALID where there is none, and where what stands there is no reference. `field` is where it is written. */
  get(reference: SecretReference, field: string, signal: AbortSignal): Promise<string>;
  /** The same, but a text that is no reference stands for itself. */
  getOrPlain(reference: SecretReference | string, field: string, signal: AbortSignal): Promise<string>;
}

/** Creates the look-up over an environment. */
export function createSecrets(environment: Readonly<Record<string, string | undefined>>): Secrets {
  async function get(reference: SecretReference | string, field: string, signal: AbortSignal): Promise<string> {
    if (typeof reference === "function") return fetched(await reference({ signal }), field);
    if (typeof reference !== "string" || !reference.startsWith("env:")) {
      const fix = `Write ${field}: "env:NAME", or give a function.`;
      // What stands there may be the secret, so it is not shown.
      throw invalid(`${field} is no reference to a secret. ${fix}`, field, fix);
    }
    const name = reference.slice("env:".length);
    const value = environment[name];
    if (value !== undefined && value !== "") return value;
    const fix = `Set ${name}.`;
    throw invalid(`${field} is in the environment variable ${name}, which is not set. ${fix}`, field, fix);
  }

  return {
    get,
    getOrPlain: async (reference, field, signal) =>
      typeof reference === "string" && !reference.startsWith("env:") ? reference : get(reference, field, signal),
  };
}

function fetched(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "") return value;
  const fix = "Let it return a nonempty text.";
  throw invalid(`The function at ${field} returned no secret. ${fix}`, field, fix);
}

function invalid(message: string, field: string, fix: string): ArsenalError {
  return new ArsenalError("CONFIG_INVALID", message, { field, fix, beforeSend: true });
}

/** The text without the secrets in it: servers repeat what they were sent. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets.toSorted((a, b) => b.length - a.length))
    if (secret.length >= SHORTEST) result = result.replaceAll(secret, "[secret]");
  return result;
}

/** Shorter ones would take ordinary words apart. */
const SHORTEST = 4;
