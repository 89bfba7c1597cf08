import { canonicalJson } from "../tool/json/canonical-json.ts";
import { estimateTokens } from "../tool/estimate-tokens.ts";
import type { Invocation, InvocationResult } from "./records.ts";

/** Options of `deduplicate`. */
export interface DeduplicateOptions {
  /** Threshold in tokens: records up to this size are not changed. Defaults to 0: always deduplicates. */
  readonly maxTokens?: number;
  /** Counts the tokens of a text. Defaults to an estimate that is within 15 % for typical tool definitions. */
  readonly countTokens?: (text: string) => number;
}

/**
 * Shortens a conversation's records: if a call has several results, the latest stays in full, and earlier ones become references to it. An earlier
 * result is replaced if it equals the latest, or if its tool is confirmed read-only. Every call keeps a result, as providers demand. Failed calls,
 * and records that are neither invocations nor results, stay as they are. Returns the same list if nothing changed.
 *
 * @example
 * const shorter = deduplicate(records, { maxTokens: 100_000 });
 */
export function deduplicate<Item extends object>(
  records: readonly Item[],
  { maxTokens = 0, countTokens = estimateTokens }: DeduplicateOptions = {},
): readonly Item[] {
  const tokens = (): number => records.reduce((sum, record) => sum + countTokens(JSON.stringify(record)), 0);
  if (maxTokens > 0 && tokens() <= maxTokens) return records;
  const latest = new Map<string, InvocationResult>();
  const references = new Map<object, InvocationResult>();
  for (const { call, result } of fullResults(records).toReversed()) {
    const newer = latest.get(call);
    if (newer === undefined) latest.set(call, result);
    const reference = newer && referenceTo(newer, result, "later");
    if (reference !== undefined) references.set(result, reference);
  }
  return references.size === 0
    ? records
    : records.map((record) => (references.get(record) as Item | undefined) ?? record);
}

/** Replaces each result that repeats an earlier result with a reference to it. Earlier results are in the conversation or in the same list. */
export function referBack(
  invocations: readonly Invocation[],
  results: readonly InvocationResult[],
  earlier: readonly object[],
): InvocationResult[] {
  const latest = new Map<string, InvocationResult>();
  const references = new Map<object, InvocationResult>();
  const isNew = new Set<object>(results);
  for (const { call, result } of fullResults([...earlier, ...invocations, ...results])) {
    const older = latest.get(call);
    const isRepeated = isNew.has(result) && older !== undefined && isSame(older, result);
    const reference = isRepeated ? referenceTo(older, result, "earlier") : undefined;
    if (reference === undefined) latest.set(call, result);
    else references.set(result, reference);
  }
  return results.map((result) => references.get(result) ?? result);
}

/** Returns the successful results that are present in full, each with its call as text. */
function fullResults(records: readonly object[]) {
  const calls = new Map<string, string>();
  return records.flatMap((record) => {
    if (isInvocation(record)) calls.set(record.id, canonicalJson([record.name, record.arguments]));
    if (!isResult(record) || record.error !== undefined || record.sameAs !== undefined) return [];
    // Some providers reuse ids, so a result belongs to the nearest preceding call.
    const call = calls.get(record.invocationId);
    return call === undefined ? [] : [{ call, result: record }];
  });
}

/** Returns the reference that replaces a repeated result; undefined if the result must stay, or is not longer than the reference. */
function referenceTo(
  other: InvocationResult,
  result: InvocationResult,
  when: "earlier" | "later",
): InvocationResult | undefined {
  const repeats = isSame(other, result);
  if (!repeats && result.readOnly !== true) return undefined;
  const article = when === "earlier" ? "an" : "a";
  const id = other.idMadeUp === true ? "the" : `${other.invocationId}, ${article}`;
  const call = `${id} ${when} call of ${other.name} with the same arguments`;
  const content = repeats ? `The same as the result of ${call}.` : `Left out: see the newer result of ${call}.`;
  const isShorter = content.length < canonicalJson(result.content).length;
  return isShorter ? { ...result, content, sameAs: other.invocationId } : undefined;
}

function isSame(one: InvocationResult, other: InvocationResult): boolean {
  return canonicalJson(one.content) === canonicalJson(other.content);
}

function isInvocation(record: object): record is Invocation {
  const { id, name, arguments: args } = record as Partial<Invocation>;
  return typeof id === "string" && typeof name === "string" && typeof args === "object" && args !== null;
}

function isResult(record: object): record is InvocationResult {
  const { invocationId, name } = record as Partial<InvocationResult>;
  return typeof invocationId === "string" && typeof name === "string";
}
