import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { showValue } from "../../../../errors/show-value.ts";
import { isPlainObject } from "../../../../tool/json-schema.ts";
import type { JsonObject } from "../../../../mcp/protocol.ts";
import { type Listing, LISTINGS } from "./upstream.ts";

interface ListAllOptions {
  /** Called for each of the first omitted entries with the reason, then once with the number of further omitted entries. */
  readonly report?: (entry: { readonly name: string; readonly reason: string }) => void;
  /** Returns the reason why a well-formed entry cannot be used; undefined if it can. */
  readonly refuse?: (entry: JsonObject) => string | undefined;
  readonly maxItems?: number;
  /** The most bytes, as JSON. Defaults to 64 MiB. */
  readonly maxBytes?: number;
  readonly isLate?: () => boolean;
}

/** No honest list has more pages or longer cursors. */
const MAX_PAGES = 1000;
const MAX_CURSOR_LENGTH = 8192;

/** Omitted entries that are reported one by one. */
const MAX_REPORTS = 10;

/** The member that identifies an entry of each list. */
const KEYS: Readonly<Record<Listing, string>> = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  resourceTemplates: "uriTemplate",
};

/** Reads all pages of one list of a server, up to limits. Omits and reports entries that cannot be used. */
export async function listAll(
  request: (method: string, params: JsonObject | undefined) => Promise<JsonObject>,
  listing: Listing,
  options: ListAllOptions = {},
): Promise<readonly JsonObject[]> {
  const { report = () => {}, refuse = () => undefined, isLate = () => false } = options;
  const { maxItems = 20_000, maxBytes = 64 * 1024 * 1024 } = options;
  const items: JsonObject[] = [];
  const cursors = new Set<string>();
  const method = LISTINGS[listing];
  const tooMany = `The server lists more than ${maxItems} ${listing}. The rest is left out.`;
  let bytes = 0;
  let leftOut = 0;
  const leaveOut = (name: unknown, reason: string): void => {
    if (++leftOut <= MAX_REPORTS) report({ name: typeof name === "string" ? name : showValue(name), reason });
  };

  /** Adds the entries of a page. Returns the reason to stop reading; undefined to go on. */
  const take = (entries: readonly unknown[]): string | undefined => {
    let why: string | undefined;
    for (const entry of entries) {
      const key = isPlainObject(entry) ? entry[KEYS[listing]] : undefined;
      if (!isPlainObject(entry)) leaveOut(entry, `It is ${showValue(entry)} instead of an object.`);
      else if (typeof key !== "string" || key === "") leaveOut(key, `Its ${KEYS[listing]} is ${showValue(key)}.`);
      else {
        const reason = refuse(entry);
        if (reason !== undefined) leaveOut(key, reason);
        else if (items.length === maxItems) why ??= tooMany;
        else if ((bytes += JSON.stringify(entry).length) > maxBytes)
          why ??= `The list has more than ${maxBytes} bytes. The rest is left out.`;
        else items.push(entry);
      }
    }
    return why;
  };

  const whyNot = (next: string): string | undefined => {
    if (items.length === maxItems) return tooMany;
    if (next.length > MAX_CURSOR_LENGTH)
      return `The cursor of the next page has more than ${MAX_CURSOR_LENGTH} characters. The rest of the list is left out.`;
    if (cursors.has(next)) return "The server repeats a page of its list. The rest is left out.";
    if (cursors.size + 1 === MAX_PAGES) return `The list has more than ${MAX_PAGES} pages. The rest is left out.`;
    if (isLate()) return "Reading the list takes too long. The rest is left out.";
    return undefined;
  };

  for (let cursor: string | undefined; ;) {
    const page = await request(method, cursor === undefined ? undefined : { cursor });
    const entries = page[listing];
    if (!Array.isArray(entries)) {
      const message = `${method} was answered with ${showValue(page)}, which has no list of ${listing}.`;
      throw new ArsenalError("PROTOCOL_ERROR", message, { field: listing, value: entries });
    }
    const next = page["nextCursor"];
    const stop = take(entries) ?? (typeof next === "string" ? whyNot(next) : undefined);
    if (stop !== undefined) report({ name: listing, reason: stop });
    if (stop !== undefined || typeof next !== "string") break;
    cursors.add(next);
    cursor = next;
  }
  if (leftOut > MAX_REPORTS) report({ name: listing, reason: `${leftOut - MAX_REPORTS} more entries are left out.` });
  return items;
}
