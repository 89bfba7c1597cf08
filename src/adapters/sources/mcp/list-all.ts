import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { JsonObject } from "./protocol.ts";
import { type Listing, LISTINGS } from "./upstream.ts";

/** How a list is read. */
export interface ListAllOptions {
  /** Told of each thing that is left out, and why. */
  readonly report?: (entry: { readonly name: string; readonly reason: string }) => void;
  /** Why an entry cannot be used, beside being malformed. */
  readonly refuse?: (entry: JsonObject) => string | undefined;
  /** Entries at most. Default 20,000. */
  readonly maxItems?: number;
}

/** What tells one entry of a list from another. */
const KEYS: Readonly<Record<Listing, string>> = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  resourceTemplates: "uriTemplate",
};

/**
 * Everything a server lists of one kind, over all pages, as it gave it. An entry without its key is left out and reported; it never costs the
 * rest of the list. Rejects where the server answers with an error, or with no list at all.
 */
export async function listAll(
  request: (method: string, params: JsonObject | undefined) => Promise<JsonObject>,
  listing: Listing,
  { report = () => {}, refuse = () => undefined, maxItems = 20_000 }: ListAllOptions = {},
): Promise<readonly JsonObject[]> {
  const items: JsonObject[] = [];
  const cursors = new Set<string>();
  const method = LISTINGS[listing];
  const leaveOut = (name: unknown, reason: string): void =>
    report({ name: typeof name === "string" ? name : showValue(name), reason });

  for (let cursor: string | undefined; ;) {
    const page = await request(method, cursor === undefined ? undefined : { cursor });
    const entries = page[listing];
    if (!Array.isArray(entries)) {
      const message = `${method} was answered with ${showValue(page)}, which has no list of ${listing}.`;
      throw new ArsenalError("PROTOCOL_ERROR", message, { field: listing, value: entries });
    }
    for (const entry of entries as readonly unknown[]) {
      const key = isPlainObject(entry) ? entry[KEYS[listing]] : undefined;
      if (!isPlainObject(entry)) leaveOut(entry, `It is ${showValue(entry)} instead of an object.`);
      else if (typeof key !== "string" || key === "") leaveOut(key, `Its ${KEYS[listing]} is ${showValue(key)}.`);
      else if (items.length === maxItems) leaveOut(key, `The server lists more than ${maxItems} ${listing}.`);
      else {
        const reason = refuse(entry);
        if (reason === undefined) items.push(entry);
        else leaveOut(key, reason);
      }
    }
    const next = page["nextCursor"];
    if (typeof next !== "string" || items.length === maxItems) return items;
    if (cursors.has(next)) {
      leaveOut(listing, "The server repeats a page: its list is read up to there.");
      return items;
    }
    cursors.add(next);
    cursor = next;
  }
}
