import { nextTurn } from "../../base/turns/event-loop.ts";
import type { Finding } from "../scan/finding.ts";
import { currentOf, type PinContent, type PinRecord } from "./pin-record.ts";
import type { Pin, PinFinding } from "./pins.ts";

/** Finds signs of attacks in a definition. Returns undefined if definitions are not scanned. */
export type ScanPin = (content: PinContent) => readonly Finding[] | undefined;

const SCANNED_AT_ONCE = 20;

/** Adds the scanner's findings to the items that are not accepted, in small steps. */
export async function withFindings(
  pins: readonly Pin[],
  records: ReadonlyMap<string, PinRecord>,
  scan: ScanPin | undefined,
): Promise<readonly Pin[]> {
  if (scan === undefined) return pins;
  const shown: Pin[] = [];
  let scanned = 0;
  for (const pin of pins) {
    const record = pin.state === "changed" || pin.state === "new" ? records.get(pin.id) : undefined;
    if (record !== undefined && ++scanned % SCANNED_AT_ONCE === 0) await nextTurn();
    const findings = record && scan(record.between ?? currentOf(record));
    shown.push(findings === undefined ? pin : { ...pin, findings: findings.map(toPinFinding) });
  }
  return shown;
}

function toPinFinding({ rule, severity, message, path, excerpt, hidden }: Finding): PinFinding {
  const more = { ...(path !== undefined && { path }), ...(hidden !== undefined && { hidden }) };
  return { rule, severity, message, excerpt, ...more };
}
