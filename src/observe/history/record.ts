import type { EventMap } from "../events.ts";
import type { ExplainedTool, Explanation, RetrievalResult } from "../../retrieve/result.ts";

/** A recorded retrieval, with everything needed to explain its ranking again. */
export interface RetrievalRecord
  extends
    Pick<
      RetrievalResult,
      "traceId" | "intent" | "tier" | "confidence" | "nothingFits" | "candidateCount" | "filteredCount" | "rerankTimeMs"
    >,
    Partial<Pick<RetrievalResult, "queryEmbeddingTimeMs" | "searchTimeMs" | "steps">> {
  readonly kind: "retrieval";
  readonly at: number;
  /** The request, with secrets redacted. Omitted if text is not stored. */
  readonly query?: string;
  readonly toolset?: string;
  readonly principal?: string;
  readonly tenant?: string;
  readonly durationMs: number;
  readonly explanation: Explanation;
}

/** A recorded call: its outcome, without arguments and result. `message` is omitted if text is not stored. */
export interface CallRecord
  extends
    Omit<EventMap["call-finished"], "sampled" | "tracestate" | "source" | "callId" | TimeOfCall>,
    Partial<Pick<EventMap["call-finished"], TimeOfCall>> {
  readonly kind: "call";
  readonly at: number;
}

/** Fields that older records lack. */
type TimeOfCall = "startedAt" | "durationMs" | "steps";

export type HistoryRecord = RetrievalRecord | CallRecord;

/** A record as stored. All tools of a ranking have the same signals and weights, so these are stored once. */
export type StoredRecord =
  | CallRecord
  | (Omit<RetrievalRecord, "explanation"> & {
      readonly signals: readonly Pick<Signal, "name" | "weight">[];
      readonly chosen: readonly StoredTool[];
      readonly leftOut: readonly StoredTool[];
    });

/** A tool with the value of each signal, in order; null if missing. */
type StoredTool = Omit<ExplainedTool, "signals"> & { readonly values: readonly (number | null)[] };

type Signal = ExplainedTool["signals"][number];

export function toStored(record: HistoryRecord): StoredRecord {
  if (record.kind === "call") return record;
  const { explanation, ...rest } = record;
  const { chosen, leftOut } = explanation;
  const known = new Map<string, Pick<Signal, "name" | "weight">>();
  for (const tools of [chosen, leftOut])
    for (const { signals } of tools)
      for (const { name, weight } of signals) if (!known.has(name)) known.set(name, { name, weight });
  const signals = [...known.values()];
  const compact = ({ signals: own, ...tool }: ExplainedTool): StoredTool => ({
    ...tool,
    values: signals.map(({ name }) => own.find((one) => one.name === name)?.value ?? null),
  });
  return { ...rest, signals, chosen: chosen.map(compact), leftOut: leftOut.map(compact) };
}

export function fromStored(record: StoredRecord): HistoryRecord {
  if (record.kind === "call") return record;
  const { signals, chosen, leftOut, ...rest } = record;
  const expand = ({ values, ...tool }: StoredTool): ExplainedTool => ({
    ...tool,
    signals: signals.flatMap(({ name, weight }, at) => {
      const value = values[at] ?? null;
      return value === null ? [] : [{ name, value, weight, contribution: value * weight || 0 }];
    }),
  });
  return { ...rest, explanation: { chosen: chosen.map(expand), leftOut: leftOut.map(expand) } };
}
