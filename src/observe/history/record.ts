import type { ErrorCode } from "../../errors/codes.ts";
import type { ExecutionStatus } from "../../execute/result.ts";
import type { CallSteps } from "../events.ts";
import type { ExplainedTool, Explanation, RetrievalResult } from "../../retrieve/result.ts";

/** A retrieval as the history keeps it: enough to explain its ranking again. */
export interface RetrievalRecord
  extends
    Pick<
      RetrievalResult,
      "traceId" | "intent" | "tier" | "confidence" | "nothingFits" | "candidateCount" | "filteredCount" | "rerankTimeMs"
    >,
    Partial<Pick<RetrievalResult, "queryEmbeddingTimeMs" | "searchTimeMs" | "steps">> {
  readonly kind: "retrieval";
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  /** The request, without secrets. Absent if no text is kept. */
  readonly query?: string;
  readonly toolset?: string;
  readonly principal?: string;
  readonly tenant?: string;
  readonly durationMs: number;
  readonly explanation: Explanation;
}

/** A call as the history keeps it: how it went, without its arguments and result. */
export interface CallRecord {
  readonly kind: "call";
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly toolId: string;
  /** The ensemble of the tool, such as its MCP server. */
  readonly ensemble?: string;
  readonly toolset?: string;
  readonly status: ExecutionStatus;
  readonly code?: ErrorCode;
  /** Why it failed, without secrets. Absent if no text is kept. */
  readonly message?: string;
  readonly cached?: true;
  readonly attempts: number;
  readonly queuedMs: number;
  readonly latencyMs: number;
  /** When it came, how long it took until it was answered, and when its steps happened. Absent in records of older versions. */
  readonly startedAt?: number;
  readonly durationMs?: number;
  readonly steps?: CallSteps;
  readonly principal: string;
  readonly tenant?: string;
  readonly cost?: number;
}

export type HistoryRecord = RetrievalRecord | CallRecord;

/** A record as it is stored. The weights of a ranking are the same for all its tools, and are written once. */
export type StoredRecord =
  | CallRecord
  | (Omit<RetrievalRecord, "explanation"> & {
      readonly weights: Readonly<Record<string, number>>;
      readonly chosen: readonly StoredTool[];
      readonly leftOut: readonly StoredTool[];
    });

type StoredTool = Omit<ExplainedTool, "signals"> & { readonly signals: Readonly<Record<string, number>> };

type Signal = ExplainedTool["signals"][number];

export function toStored(record: HistoryRecord): StoredRecord {
  if (record.kind === "call") return record;
  const { explanation, ...rest } = record;
  const { chosen, leftOut } = explanation;
  const weights = Object.fromEntries(
    [...chosen, ...leftOut].flatMap(({ signals }) => signals.map(({ name, weight }) => [name, weight])),
  );
  const compact = ({ signals, ...tool }: ExplainedTool): StoredTool => ({
    ...tool,
    signals: Object.fromEntries(signals.map(({ name, value }) => [name, value])),
  });
  return { ...rest, weights, chosen: chosen.map(compact), leftOut: leftOut.map(compact) };
}

export function fromStored(record: StoredRecord): HistoryRecord {
  if (record.kind === "call") return record;
  const { weights, chosen, leftOut, ...rest } = record;
  const expand = ({ signals, ...tool }: StoredTool): ExplainedTool => ({
    ...tool,
    // In the order of the weights: a database may have sorted the names.
    signals: SIGNALS.filter((name) => signals[name] !== undefined).map((name) => {
      const [value = 0, weight = 0] = [signals[name], weights[name]];
      return { name, value, weight, contribution: value * weight || 0 };
    }),
  });
  return { ...rest, explanation: { chosen: chosen.map(expand), leftOut: leftOut.map(expand) } };
}

/** Every signal, in the order an explanation has them. */
const SIGNALS = Object.keys({
  semantic: 0,
  intent: 0,
  conversation: 0,
  health: 0,
  cost: 0,
  learned: 0,
  alreadyUsedPenalty: 0,
  alreadyFailedPenalty: 0,
  deprecatedPenalty: 0,
} satisfies Record<Signal["name"], 0>) as readonly Signal["name"][];
