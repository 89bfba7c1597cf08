import type { KeptRecord } from "../../../src/guard/audit.port.ts";
import { gateway, may } from "../gateway.ts";
import { type RequestState, useAsk } from "./ask.ts";
import type { Call } from "./past-calls.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** The recorded arguments of calls, by span. Undefined if the audit log does not contain arguments, or if the user may not read it. */
export type RecordedArguments = ReadonlyMap<string, Arguments> | undefined;

/** The log is read from its newest record. Arguments of calls beyond this number of pages are not found. */
const MOST_PAGES = 20;
const PAGE = 1_000;
/** The record of a call may be written shortly before or after the end of the call. */
const TOLERANCE_MS = 60_000;

/** Reads the arguments of calls from the audit log, redacted as they are stored there. */
export function useRecordedArguments(
  calls: readonly Pick<Call, "at" | "spanId" | "startedAt">[],
  trace?: string,
): RequestState<RecordedArguments> {
  const key = calls.map(({ spanId }) => spanId).join();
  return useAsk(
    async (): Promise<RecordedArguments> => {
      if (calls.length === 0) return undefined;
      if (!may("queryAudit") || !may("getStats") || (await gateway().stats()).keeps.arguments !== true)
        return undefined;
      const missing = new Set(calls.map(({ spanId }) => spanId));
      const found = new Map<string, Arguments>();
      const from = Math.min(...calls.map(({ at, startedAt = at }) => startedAt)) - TOLERANCE_MS;
      const to = Math.max(...calls.map(({ at }) => at)) + TOLERANCE_MS;
      let cursor: string | undefined;
      for (let page = 0; page < MOST_PAGES && missing.size > 0; page++) {
        const { records, next } = await gateway().audit.query({
          kind: "call",
          limit: PAGE,
          from: new Date(from).toISOString(),
          to: new Date(to).toISOString(),
          ...(trace !== undefined && { trace }),
          ...(cursor !== undefined && { cursor }),
        });
        for (const record of records) {
          const span = String(record["spanId"]);
          if (!missing.delete(span)) continue;
          const args = argumentsIn(record);
          if (args !== undefined) found.set(span, args);
        }
        if (next === undefined) break;
        cursor = next;
      }
      return found;
    },
    [key, trace],
    { delayMs: 300 },
  );
}

function argumentsIn(record: KeptRecord): Arguments | undefined {
  const kept = record["arguments"] as { readonly value?: unknown } | undefined;
  return typeof kept?.value === "object" && kept.value !== null ? (kept.value as Arguments) : undefined;
}
