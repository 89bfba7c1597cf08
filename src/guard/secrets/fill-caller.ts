import type { Caller } from "../../tool/handler.ts";

/** Who is meant where nobody in particular asks, such as when a server's tools are listed, and the tenant of whoever has none. */
export const NOBODY = "_default";

/** Puts the caller's name and tenant in place of `{principal}` and `{tenant}`. */
export function fillCaller(text: string, caller: Caller | undefined): string {
  return text
    .replaceAll("{principal}", () => (caller === undefined ? NOBODY : encodeName(caller.id)))
    .replaceAll("{tenant}", () => (caller?.tenant === undefined ? NOBODY : encodeName(caller.tenant)));
}

/**
 * A name as one part of a path, and no other name's: percent-encoded, and its first character too where that is a dot (a folder above), a
 * dash (an option) or an underscore (`_default`).
 */
function encodeName(name: string): string {
  return encodeURIComponent(name).replace(/^[._-]/, (first) => `%${first.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Why a reference cannot be filled in for a caller; undefined where it can. */
export function callerProblem(reference: string, caller: Caller | undefined): string | undefined {
  if (/\{(?:principal|tenant)\}[^/]*\{(?:principal|tenant)\}/.test(reference))
    return "has two names without / between them, so that two callers may come to share one secret";
  const names = [
    reference.includes("{principal}") ? caller?.id : undefined,
    reference.includes("{tenant}") ? caller?.tenant : undefined,
  ];
  if (names.some((name) => name !== undefined && (name === "" || !name.isWellFormed())))
    return "depends on the caller, whose name is empty or no text";
  return undefined;
}
