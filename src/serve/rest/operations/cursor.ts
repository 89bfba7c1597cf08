import { fixable } from "../../../errors/arsenal-error.ts";

/** Returns the cursor of the next page. Cursors are opaque to callers, so that their content can change. */
export function toCursor(kind: string, place: string): string {
  return Buffer.from(`${kind}:${place}`).toString("base64url");
}

/** Returns the groups of `place` in a cursor of that kind; undefined without a cursor. Throws INPUT_INVALID for an invalid cursor. */
export function fromCursor(kind: string, place: RegExp, cursor: string | undefined): readonly string[] | undefined {
  if (cursor === undefined) return undefined;
  const [given, text] = Buffer.from(cursor, "base64url").toString().split(/:(.*)/s);
  const found = given === kind ? place.exec(text ?? "") : null;
  if (found !== null) return found.slice(1);
  const fix = "Send `next` of the previous page, unchanged, or leave it out for the first page.";
  throw fixable("INPUT_INVALID", "The cursor is invalid.", fix, { field: "cursor", value: cursor });
}
