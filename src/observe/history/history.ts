import type { Redactor } from "../../guard/redaction/redactor.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { State } from "../../state/state.port.ts";
import { createBoundedQueue } from "../bounded-queue.ts";
import type { Clock } from "../clock.ts";
import type { Emit } from "../events.ts";
import { changeDocument, type CostSums, sumCosts, writeCosts } from "./costs.ts";
import { fromStored, type HistoryRecord, type RetrievalRecord, type StoredRecord, toStored } from "./record.ts";

/** Stores past searches and calls, so that they can be explained later. */
export type History = ReturnType<typeof createHistory>;

interface HistorySettings {
  /** The maximum number of records, over all processes that share the state. */
  readonly max: number;
  readonly maxAgeDays: number;
  /** True stores the text of requests and errors. */
  readonly text: boolean;
}

interface HistoryParts {
  readonly state: State;
  readonly clock: Clock;
  readonly redactor: Pick<Redactor, "text">;
  readonly settings: HistorySettings;
  readonly emit: Emit;
  /** Creates the name of a document of this process. */
  readonly newId: () => string;
}

/** The documents with records, oldest first, and the maximum number of records in each. All processes share the index. */
interface Index {
  readonly chunks: readonly Chunk[];
}

interface Chunk {
  readonly key: string;
  readonly at: number;
  readonly count: number;
}

const INDEX = "history-index";
const CHUNK = "history:";
const MOST_CHUNKS = 500;
const MOST_IN_CHUNK = 100;
const DAY_MS = 86_400_000;

/** How long records are batched before they are written, in milliseconds. */
const WRITE_AFTER_MS = 1_000;

/** The maximum number of buffered records. Beyond it, the oldest are lost. */
const MOST_WAITING = 5_000;

const REPORT_EVERY_MS = 60_000;

/** Creates the history of one process. Nothing waits for its writes; records that cannot be written are lost and reported. */
export function createHistory(parts: HistoryParts) {
  const { state, clock, redactor, settings, emit, newId } = parts;
  const size = Math.min(MOST_IN_CHUNK, Math.ceil(settings.max / 10));
  const waiting = createBoundedQueue<string>(MOST_WAITING);
  let costs: CostSums = new Map();
  let lost = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let open: { readonly key: string; readonly at: number; readonly records: string[] } | undefined;
  let cancel: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  /** Creates a record now and buffers its text, which is written within a second. If that fails, the record is lost and reported. */
  function note(make: () => HistoryRecord): void {
    if (isClosed) return;
    try {
      const record = make();
      if (!waiting.push(JSON.stringify(toStored(safe(record))))) lost++;
      sumCosts(costs, record);
    } catch (error) {
      lost++;
      report(`A request could not be explained: ${messageOf(error)}`);
    }
    cancel ??= clock.after(WRITE_AFTER_MS, () => void flush(), { background: true });
  }

  function flush(): Promise<void> {
    cancel?.();
    cancel = undefined;
    return (writing = writing.then(write));
  }

  async function write(): Promise<void> {
    const records = waiting.take(MOST_WAITING);
    if (records.length === 0) return;
    const spent = costs;
    costs = new Map();
    try {
      await keep(records);
      await writeCosts(state, spent);
      if (lost > 0) report(`More than ${MOST_WAITING} requests and calls are waiting to be recorded.`);
    } catch (error) {
      open = undefined;
      lost += records.length;
      report(`The history could not be written: ${messageOf(error)}`);
    }
  }

  /** Reports losses, at most once a minute. */
  function report(message: string): void {
    if (clock.now() - reportedAt < REPORT_EVERY_MS) return;
    emit("sink-failed", { sink: "history", message, dropped: lost });
    reportedAt = clock.now();
    lost = 0;
  }

  /** Fills the open document, and then as many new documents as needed. */
  async function keep(records: readonly string[]): Promise<void> {
    const touched = new Set(open === undefined ? [] : [open]);
    const started: Chunk[] = [];
    const ended: Chunk[] = [];
    for (const record of records) {
      if (open !== undefined && open.records.length >= size) ended.push(toChunk(open));
      if (open === undefined || open.records.length >= size) {
        open = { key: CHUNK + newId(), at: Math.round(clock.now()), records: [] };
        touched.add(open);
        // An open document counts as full, so that the limit holds even if this process dies.
        started.push({ key: open.key, at: open.at, count: size });
      }
      open.records.push(record);
    }
    if (started.length > 0) await updateIndex(started, ended);
    const expiresAt = clock.now() + settings.maxAgeDays * DAY_MS;
    for (const { key, records: all } of touched) await state.set(key, all, { expiresAt });
  }

  /** Adds documents to the index. Removes the oldest documents if there are too many. */
  async function updateIndex(started: readonly Chunk[], ended: readonly Chunk[]): Promise<void> {
    const counts = new Map(ended.map(({ key, count }) => [key, count]));
    let dropped: readonly Chunk[] = [];
    await changeDocument<Index>(state, INDEX, (index) => {
      const all = [...(index?.chunks ?? []), ...started].map((chunk) => ({
        ...chunk,
        count: counts.get(chunk.key) ?? chunk.count,
      }));
      const chunks = withinBounds(all);
      dropped = all.slice(0, all.length - chunks.length);
      return { chunks };
    });
    for (const { key } of dropped) await state.delete(key);
  }

  function withinBounds(chunks: readonly Chunk[]): readonly Chunk[] {
    const oldest = clock.now() - settings.maxAgeDays * DAY_MS;
    let total = chunks.reduce((sum, { count }) => sum + count, 0);
    let first = 0;
    for (const { at, count } of chunks) {
      if (total <= settings.max && chunks.length - first <= MOST_CHUNKS && at > oldest) break;
      total -= count;
      first++;
    }
    return chunks.slice(first);
  }

  /** Redacts secrets, or removes all text. Matched words are text too, because they come from the request. */
  function safe(record: HistoryRecord): HistoryRecord {
    if (record.kind === "call") {
      const { message, ...rest } = record;
      return message === undefined || settings.text ? record : rest;
    }
    const { query = "", ...rest } = record;
    const shown = settings.text ? redactor.text(query) : undefined;
    if (shown === query) return record;
    return { ...withoutWords(rest), ...(shown !== undefined && { query: shown }) };
  }

  return {
    note,
    flush,
    async close(): Promise<void> {
      isClosed = true;
      await flush();
      if (open !== undefined) await updateIndex([], [toChunk(open)]).catch(() => {}); // If this fails, the index counts more records than exist.
    },
  };
}

function toChunk({ key, at, records }: { key: string; at: number; records: readonly unknown[] }): Chunk {
  return { key, at, count: records.length };
}

function withoutWords<Retrieval extends Pick<RetrievalRecord, "explanation">>(record: Retrieval): Retrieval {
  const { chosen, leftOut } = record.explanation;
  const wordless = (tools: typeof chosen): typeof chosen => tools.map((tool) => ({ ...tool, matchedTerms: [] }));
  return { ...record, explanation: { chosen: wordless(chosen), leftOut: wordless(leftOut) } };
}

const READ_AT_ONCE = 16;

/** Reads the records of all processes, oldest first. */
export async function readHistory(
  state: State,
  wanted: (record: StoredRecord) => boolean,
  options: { readonly signal?: AbortSignal } = {},
): Promise<readonly HistoryRecord[]> {
  const chunks = ((await state.get(INDEX, options))?.value as Index | undefined)?.chunks ?? [];
  const found: StoredRecord[] = [];
  for (let first = 0; first < chunks.length; first += READ_AT_ONCE) {
    const entries = await Promise.all(
      chunks.slice(first, first + READ_AT_ONCE).map(({ key }) => state.get(key, options)),
    );
    for (const entry of entries)
      for (const text of (entry?.value ?? []) as readonly unknown[]) {
        // Skips records in an older development format.
        if (typeof text !== "string") continue;
        const record = JSON.parse(text) as StoredRecord;
        if (wanted(record)) found.push(record);
      }
  }
  return found.sort((a, b) => a.at - b.at).map(fromStored);
}
