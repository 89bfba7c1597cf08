import { isWrittenOutSecret } from "./looks-secret.ts";
import { hasSecret, type SecretReference } from "./reference.ts";
import type { Secrets, SecretUse } from "./secrets.ts";
import type { Caller } from "../../tool/handler.ts";

/** Headers or environment variables by name. Each value may be a secret. */
export type Members = Readonly<Record<string, SecretReference | string>>;

/** Resolves the secrets that members refer to; `use.field` is their path in the settings. Redacts values whose names mark them as secrets. */
export async function fillMembers(members: Members, secrets: Secrets, use: SecretUse): Promise<Record<string, string>> {
  const filled: Record<string, string> = {};
  for (const [name, text] of Object.entries(members)) {
    const value = await secrets.fill(text, { ...use, field: `${use.field}.${name}` });
    filled[name] = value;
    if (typeof text !== "string" || hasSecret(text) || isWrittenOutSecret(name, text))
      for (const part of secretParts(value)) secrets.redactor.add(part);
  }
  return filled;
}

/** Returns the parts that are as sensitive as the whole: the token of `Bearer TOKEN`, the password in `Basic` credentials or in an address. */
function secretParts(value: string): readonly string[] {
  const rest = value.slice(value.indexOf(" ") + 1);
  const pair = /^basic /i.test(value) ? Buffer.from(rest, "base64").toString() : "";
  const [, inAddress = ""] = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^/?#@:]*:([^/?#@]+)@/i.exec(value) ?? [];
  return [value, rest, pair.slice(pair.indexOf(":") + 1), inAddress];
}

/** Replaces `{principal}` for requests without a caller, such as listing a server's tools, and `{tenant}` for callers without a tenant. */
const NOBODY = "_default";

/** Replaces `{principal}` and `{tenant}` with the caller's name and tenant. */
export function fillCaller(text: string, caller: Caller | undefined): string {
  return text
    .replaceAll("{principal}", () => (caller === undefined ? NOBODY : encodeName(caller.id)))
    .replaceAll("{tenant}", () => (caller?.tenant === undefined ? NOBODY : encodeName(caller.tenant)));
}

/** Encodes a name as one unambiguous path segment. Also encodes a leading dot (parent folder), dash (option) or underscore (`_default`). */
function encodeName(name: string): string {
  return encodeURIComponent(name).replace(/^[._-]/, (first) => `%${first.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns why a reference cannot be resolved for a caller; undefined if it can. */
export function callerProblem(reference: string, caller: Caller | undefined): string | undefined {
  if (/\{(?:principal|tenant)\}[^/]*\{(?:principal|tenant)\}/.test(reference))
    return "has two names without / between them, so that two callers could share one secret";
  const names = [
    reference.includes("{principal}") ? caller?.id : undefined,
    reference.includes("{tenant}") ? caller?.tenant : undefined,
  ];
  if (names.some((name) => name !== undefined && (name === "" || !name.isWellFormed())))
    return "depends on the caller, whose name is empty or not a string";
  return undefined;
}
