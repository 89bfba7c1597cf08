import { canonicalJson } from "../tool/canonical-json.ts";
import { estimateTokens } from "../tool/estimate-tokens.ts";
import type { Invocation, InvocationResult } from "./records.ts";

/** When repeated results are left out. */
export interface DeduplicateOptions {
  /** Leaves the records alone as long as they have at most so many tokens. Defaults to 0: always deduplicates. */
  readonly maxTokens?: number;
  /** Tokens of a text. Defaults to an estimate that is within 15 % for typical tool definitions. */
  readonly countTokens?: (text: string) => number;
}

/**
 * Shortens a conversation's records: of several results of the same call, the latest stays, and the others only refer to it. A result is left
 * out if it is the same as the latest, or if its tool is confirmed read-only, so that the latest is newer. Every call keeps a result, as
 * providers demand. Failed calls, and records that are neither invocations nor results, stay as they are. Returns the same list if nothing
 * changed.
 *
 * @example
 * const shorter = deduplicate(records, { maxTokens: 100_000 });
 */
export function deduplicate<Item extends object>(
  records: readonly Item[],
  { maxTokens = 0, countTokens = estimateTokens }: DeduplicateOptions = {},
): readonly Item[] {
  if (maxTokens > 0 && tokensOf(records, countTokens) <= maxTokens) return records;
  const calls = new Map<string, string>();
  /** The latest full result of each call. */
  const latest = new Map<string, InvocationResult>();
  let changed = false;
  // Backwards, so that the latest comes first. Some providers use an id again, so a result belongs to the nearest call before it.
  const keys = records.map((record) => {
    if (isInvocation(record)) calls.set(record.id, canonicalJson([record.name, record.arguments]));
    return isResult(record) ? calls.get(record.invocationId) : undefined;
  });
  const shortened = records.map((record) => record);
  for (let index = records.length - 1; index >= 0; index--) {
    const [record, key] = [records[index], keys[index]];
    if (record === undefined || key === undefined || !isResult(record)) continue;
    if (record.error !== undefined || record.sameAs !== undefined) continue;
    const newer = latest.get(key);
    const reference = newer && referenceTo(newer, record);
    if (newer === undefined) latest.set(key, record);
    if (reference === undefined) continue;
    shortened[index] = reference as InvocationResult & Item;
    changed = true;
  }
  return changed ? shortened : records;
}

/** A result that stands for an earlier one; undefined if that one must stay, or is no longer than its reference. */
function referenceTo(newer: InvocationResult, earlier: InvocationResult): InvocationResult | undefined {
  const before = canonicalJson(earlier.content);
  const isSame = before === canonicalJson(newer.content);
  if (!isSame && earlier.readOnly !== true) return undefined;
  const id = newer.idMadeUp === true ? "the" : `${newer.invocationId}, a`;
  const call = `${id} later call of ${newer.name} with the same arguments`;
  const content = isSame ? `The same as the result of ${call}.` : `Left out: see the newer result of ${call}.`;
  return content.length < before.length ? { ...earlier, content, sameAs: newer.invocationId } : undefined;
}

function tokensOf(records: readonly object[], countTokens: (text: string) => number): number {
  return records.reduce((sum, record) => sum + countTokens(JSON.stringify(record)), 0);
}

function isInvocation(record: object): record is Invocation {
  const { id, name, arguments: args } = record as Partial<Invocation>;
  return typeof id === "string" && typeof name === "string" && typeof args === "object" && args !== null;
}

function isResult(record: object): record is InvocationResult {
  const { invocationId, name } = record as Partial<InvocationResult>;
  return typeof invocationId === "string" && typeof name === "string";
}
