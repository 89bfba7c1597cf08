import { ArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import type { Principal } from "../principal.ts";
import { currentOf, type PinMode, type PinRecord, stateOf } from "./pin-record.ts";
import type { AcceptOptions } from "./pins.ts";

/** Fewer digits of a hash could stand for two definitions that a server found by trying. */
const MIN_DIGITS = 16;

/** The record once somebody accepted what waits. Throws where nothing does, or it is no longer what was looked at. */
export function afterAccepting(
  id: string,
  before: PinRecord | undefined,
  how: AcceptOptions & { readonly mode: PinMode; readonly by: Principal; readonly at: number },
): PinRecord {
  const { confirmAnnotations = false, hash, mode, by, at } = how;
  if (before === undefined || (stateOf(before, mode) === "accepted" && !confirmAnnotations)) throw nothingWaits(id);
  const content = currentOf(before);
  if (hash !== undefined && (hash.length < MIN_DIGITS || !content.hash.startsWith(hash)))
    throw isAnother(id, hash, content.hash);
  const { ensemble, accepted } = before;
  // Vouched for is one definition, not whatever comes under its name.
  const vouched = confirmAnnotations || (accepted?.confirmed === true && accepted.content.hash === content.hash);
  return { ensemble, accepted: { content, by: by.id, ...(vouched && { confirmed: true }) }, since: at };
}

/** Throws for somebody who may not accept. */
export function refuseOthers(id: string, by: Principal): void {
  if (by.roles.includes("approver")) return;
  const fix = 'Give the role "approver" to whoever accepts, or let an approver do it.';
  const message = `"${by.id}" lacks the role "approver" and cannot accept ${id}. ${fix}`;
  throw new ArsenalError("PERMISSION_DENIED", message, { field: "id", value: id, fix });
}

function nothingWaits(id: string): ArsenalError {
  const fix = "Take an id from: toolarsenal pins list";
  const message = `Nothing waits to be accepted as ${showValue(id)}. ${fix}`;
  return new ArsenalError("INPUT_INVALID", message, { field: "ID", value: id, fix });
}

function isAnother(id: string, hash: string, now: string): ArsenalError {
  const fix = "Look at it again with: toolarsenal pins list --diff";
  const message = `${id} is no longer what ${showValue(hash)} stands for: it is ${now.slice(0, MIN_DIGITS)} now. ${fix}`;
  return new ArsenalError("INPUT_INVALID", message, { field: "hash", value: hash, fix });
}
