import type { Clock } from "../../observe/clock.ts";
import type { Tool } from "../../tool/tool.ts";
import type { CatalogEngine } from "../catalog-engine.port.ts";
import type { Embedder } from "../embedder.port.ts";
import type { Exclusively } from "../exclusively.ts";
import type { BackgroundIndexing } from "./background-indexing.ts";
import { type Embeddings, vectorsName } from "./embeddings.ts";
import { untilAborted } from "./until-aborted.ts";

export interface SharedIndexingParts {
  readonly embedder: Embedder;
  readonly embeddings: Embeddings;
  readonly engine: Pick<CatalogEngine, "get" | "withoutVectors">;
  readonly clock: Clock;
  /** Runs work that one process at a time may do. */
  readonly exclusively: Exclusively;
  /** True if requests wait for the model to be loaded; otherwise it is loaded in the background. */
  readonly first: boolean;
}

/** Embeds the tools of an engine that several processes share: whichever process has its turn embeds all that have no vectors. */
export interface SharedIndexing extends BackgroundIndexing {
  /** Embeds at once unless another process is at it already; then it goes on in the background. */
  begin(): Promise<void>;
}

const DELAY_MS = 150;
/** How soon to look again while another process embeds. */
const LOOK_MS = 500;
const PAGE = 1000;
/** Tools that failed before and are tried again, one by one, in each turn. */
const RETRIED = 64;

export function createSharedIndexing(parts: SharedIndexingParts): SharedIndexing {
  const { embedder, embeddings, engine, clock, exclusively, first } = parts;
  const name = vectorsName(embedder);
  const { missing } = embeddings;
  /** Tools that this process failed to embed: ids and content hashes. */
  const failed = new Map<string, string>();
  const closing = new AbortController();
  const { signal } = closing;
  /** How often somebody asked for work. */
  let asked = 0;
  let cancelStart: (() => void) | undefined;
  let running: Promise<void> | undefined;

  async function* lacking(): AsyncIterableIterator<readonly string[]> {
    for (let after = ""; ;) {
      const page = await engine.withoutVectors(name, { after, limit: PAGE, signal });
      if (page.length > 0) yield page;
      if (page.length < PAGE) return;
      after = page.at(-1) ?? "";
    }
  }

  /** Brings `missing` up to date with what all processes have done. */
  async function look(): Promise<void> {
    const found = new Set<string>();
    for await (const ids of lacking()) {
      const unknown = ids.filter((id) => !missing.has(id));
      if (unknown.length > 0) embeddings.expect(await engine.get(unknown));
      for (const id of ids) found.add(id);
    }
    embeddings.forget([...missing.keys()].filter((id) => !found.has(id)));
  }

  async function embedLacking(held: AbortSignal): Promise<void> {
    for await (const ids of lacking()) {
      held.throwIfAborted();
      const tools = await embeddings.recall(await engine.get(ids));
      const hasFailed = ({ id, contentHash }: Tool): boolean => failed.get(id) === contentHash;
      await embeddings.embed(
        tools.filter((tool) => !hasFailed(tool)),
        { signal: held, background: !first },
      );
      await embeddings.retry(tools.filter(hasFailed).slice(0, RETRIED), held);
      for (const { id, contentHash } of tools) {
        if (missing.get(id) === contentHash) failed.set(id, contentHash);
        else failed.delete(id);
      }
    }
  }

  async function canEmbed(): Promise<boolean> {
    if (first) return true;
    // Loads the model: requests need it even if every tool has a vector.
    if (await untilAborted(embedder.healthCheck({ signal, background: true }), signal)) return true;
    embeddings.failed(`The embedder ${embedder.model} is not used`, new Error("it cannot be loaded"));
    return false;
  }

  /** One turn. Returns false if another process has it and there is still something to embed. */
  async function turn(): Promise<boolean> {
    const outcome = await exclusively(`embed:${name}`, embedLacking, signal);
    if (outcome !== "done" || missing.size > 0) await look();
    return outcome !== "taken" || missing.size === 0;
  }

  async function work(): Promise<void> {
    if (!(await canEmbed())) return;
    for (let done = -1; done !== asked;) {
      const now = asked;
      if (await turn()) done = now;
      else await pause(clock, LOOK_MS, signal);
    }
  }

  function run(): Promise<void> {
    cancelStart?.();
    cancelStart = undefined;
    running ??= work()
      .catch(() => {}) // the engine failed, or it is closing; the next one who asks tries again
      .finally(() => (running = undefined));
    return running;
  }

  function add(): void {
    asked++;
    if (signal.aborted || running !== undefined) return;
    cancelStart ??= clock.after(DELAY_MS, () => void run(), { background: true });
  }

  return {
    add,
    load: add,
    async begin() {
      if (first) await turn().catch(() => false);
      else await look().catch(() => {});
      if (missing.size > 0) add();
    },
    async wait({ signal: given, embedAtMost = Infinity } = {}) {
      if (running === undefined && cancelStart === undefined && missing.size === 0) return 0;
      const alive = setInterval(() => {}, 1 << 30); // who waits keeps the process alive; the work itself does not
      try {
        if (embedAtMost < Infinity) await untilAborted(look(), given);
        if (missing.size > embedAtMost) return missing.size;
        await untilAborted(run(), given);
        return missing.size;
      } finally {
        clearInterval(alive);
      }
    },
    async close() {
      closing.abort(new Error("closed"));
      cancelStart?.();
      await running;
    },
  };
}

/** Resolves after a while, in the background. Rejects when the signal fires. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve, { background: true });
  try {
    await untilAborted(promise, signal);
  } finally {
    cancel();
  }
}
