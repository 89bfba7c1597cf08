import { RequestMalformedError } from "@a2a-js/sdk/errors";
import { isPlainObject } from "../../tool/json-schema.ts";

/** The limits of one request, in every version and binding. */
const MOST_PARTS = 256;
const MOST_REFERENCES = 16;
/** Maximum length of ids of tasks, contexts, messages, notifications and JSON-RPC requests, in characters. */
export const MOST_ID_LENGTH = 256;
/** Maximum size of the other data in a request (ids, metadata, configuration) without the content of its parts, in characters of JSON. */
const MOST_OTHER_LENGTH = 64 * 1024;

/** The members of a part that hold its content. Tools have their own limits for content. */
const CONTENT: ReadonlySet<string> = new Set(["text", "data", "raw", "url", "file"]);
/** The maximum length of each list of a message, by its name in any version. */
const LISTS: ReadonlyMap<string, number> = new Map([
  ["parts", MOST_PARTS],
  ["content", MOST_PARTS],
  ["referenceTaskIds", MOST_REFERENCES],
  ["reference_task_ids", MOST_REFERENCES],
]);
const ID = /^(?:id|\w+Id|\w+_id)$/;

/**
 * Refuses a request that has too many parts, long ids or much metadata, before anything is converted. Accepts parsed JSON with the names of any
 * version of A2A.
 */
export function checkRequest(params: unknown): void {
  if (isPlainObject(params)) checkMembers(params, "", createBudget());
}

/** Refuses an id that is too long to be echoed and stored, or that has control characters, which would garble a log. */
export function checkId(id: string, name: string): void {
  if (id.length > MOST_ID_LENGTH)
    throw new RequestMalformedError(`${name} has ${id.length} characters; the limit is ${MOST_ID_LENGTH}.`);
  if (/\p{Cc}/u.test(id)) throw new RequestMalformedError(`${name} has control characters. Leave them out.`);
}

type Spend = (length: number) => void;

function createBudget(): Spend {
  let left = MOST_OTHER_LENGTH;
  return (length) => {
    left -= length;
    if (left >= 0) return;
    throw new RequestMalformedError(
      `The request has more than ${MOST_OTHER_LENGTH} characters of JSON besides the content of its parts. Send less metadata, or send it as a data part.`,
    );
  };
}

function checkMembers(members: Readonly<Record<string, unknown>>, path: string, spend: Spend): void {
  for (const [key, value] of Object.entries(members)) {
    const name = path + key;
    const most = LISTS.get(key);
    spend(key.length + 4);
    if (Array.isArray(value) && most !== undefined) {
      if (value.length > most)
        throw new RequestMalformedError(`${name} has ${value.length} entries; the limit is ${most}.`);
      for (const item of value) {
        if (most === MOST_REFERENCES) checkId(String(item), name);
        spendOn(item, spend, CONTENT);
      }
    } else if (isPlainObject(value) && key !== "metadata") checkMembers(value, `${name}.`, spend);
    else {
      if (typeof value === "string" && ID.test(key)) checkId(value, name);
      spendOn(value, spend);
    }
  }
}

/** Subtracts the size of a value as JSON from the budget, without the named members. Stops when the budget is used up. */
function spendOn(value: unknown, spend: Spend, without?: ReadonlySet<string>): void {
  if (typeof value === "string") return spend(value.length + 2);
  if (Array.isArray(value)) {
    spend(value.length + 2);
    for (const item of value) spendOn(item, spend);
  } else if (isPlainObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      spend(key.length + 4);
      if (without?.has(key) !== true) spendOn(member, spend);
    }
  } else spend(4);
}
