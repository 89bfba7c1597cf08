import type { Clock } from "../observe/clock.ts";
import type { State } from "../state/state.port.ts";
import { OPEN_RUN_KEY as OPEN } from "./keys.ts";
import type { RecordedStep, Run, RunCall, RunHead, RunWait } from "./run.ts";

/** Time for which a run is kept after its last change, in milliseconds. See also ended-runs.ts. */
export const KEEP_RUN_MS: number = 24 * 60 * 60 * 1_000;

/** Maximum characters of recorded results in one document, and in all documents of a run. */
const CHUNK = 512 * 1024;
export const MOST_RECORDED: number = 16 * 1024 * 1024;

const HEAD = "run:";
const PART = "run-part:";
const ASKED = "run-asked:";

export interface OpenRun {
  readonly id: string;
  readonly waits: readonly RunWait[];
}

export type RunStore = ReturnType<typeof createRunStore>;

/** Stores runs as documents: a small head for lists, and the large parts in separate documents. */
export function createRunStore(documents: State, clock: Clock) {
  const options = (): { readonly expiresAt: number } => ({ expiresAt: clock.now() + KEEP_RUN_MS });
  const part = async <Value>(id: string, name: string): Promise<Value | undefined> =>
    (await documents.get(`${PART}${id}:${name}`))?.value as Value | undefined;
  const setPart = async (id: string, name: string, value: unknown): Promise<void> =>
    void (await documents.set(`${PART}${id}:${name}`, value, options()));

  return {
    async head(id: string): Promise<{ readonly head: RunHead; readonly version: number } | undefined> {
      const entry = await documents.get(HEAD + id);
      return entry && { head: entry.value as RunHead, version: entry.version };
    },
    /** Returns false, and changes nothing, if the version does not match. */
    setHead: (head: RunHead, ifVersion?: number | "absent"): Promise<boolean> =>
      documents.set(HEAD + head.id, head, { ...options(), ...(ifVersion !== undefined && { ifVersion }) }),
    async get(id: string): Promise<Run | undefined> {
      const found = await this.head(id);
      if (found === undefined) return undefined;
      const [work, calls, ended] = await Promise.all([
        part(id, "work"),
        part<readonly RunCall[]>(id, "calls"),
        part<{ readonly result?: unknown }>(id, "result"),
      ]);
      return { ...found.head, work, calls: calls ?? [], ...(ended?.result !== undefined && { result: ended.result }) };
    },
    /** Returns heads newest first, because ids sort in that order. */
    async heads(page: { readonly after?: string; readonly limit: number }): Promise<readonly RunHead[]> {
      const { after, limit } = page;
      const listed = await documents.list(HEAD, { limit, ...(after !== undefined && { after: HEAD + after }) });
      return listed.map(({ value }) => value as RunHead);
    },
    work: (id: string): Promise<unknown> => part(id, "work"),
    setWork: (id: string, work: unknown): Promise<void> => setPart(id, "work", work),
    setCalls: (id: string, calls: readonly RunCall[]): Promise<void> => setPart(id, "calls", calls),
    setResult: (id: string, result: unknown): Promise<void> => setPart(id, "result", { result }),

    /** Stores the steps of a waiting run. Returns false if their results are too large. */
    async setSteps(id: string, steps: readonly RecordedStep[]): Promise<boolean> {
      const text = JSON.stringify(steps);
      if (text.length > MOST_RECORDED) return false;
      const chunks = Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, n) =>
        text.slice(n * CHUNK, (n + 1) * CHUNK),
      );
      await Promise.all(chunks.map((chunk, n) => setPart(id, `steps.${n}`, chunk)));
      await setPart(id, "steps", chunks.length);
      return true;
    },
    async steps(id: string): Promise<readonly RecordedStep[]> {
      const count = (await part<number>(id, "steps")) ?? 0;
      const chunks = await Promise.all(Array.from({ length: count }, (_, n) => part<string>(id, `steps.${n}`)));
      return count === 0 ? [] : (JSON.parse(chunks.join("")) as readonly RecordedStep[]);
    },

    async remove(id: string): Promise<void> {
      const keys = [HEAD + id, ...["work", "calls", "result"].map((name) => `${PART}${id}:${name}`)];
      await Promise.all(keys.map((key) => documents.delete(key)));
    },

    async open(): Promise<readonly OpenRun[]> {
      return (await documents.list(OPEN)).map(({ value }) => value as OpenRun);
    },
    setOpen: async (run: OpenRun): Promise<void> => void (await documents.set(OPEN + run.id, run, options())),
    /** Removes a run from the open ones, together with the data that only its continuation needs. */
    async setEnded(id: string): Promise<void> {
      const count = (await part<number>(id, "steps")) ?? 0;
      const gone = count === 0 ? [] : ["steps", ...Array.from({ length: count }, (_, n) => `steps.${n}`)];
      await Promise.all([documents.delete(OPEN + id), ...gone.map((name) => documents.delete(`${PART}${id}:${name}`))]);
    },

    /** Returns the suspended run of a request by the request's hash, until the outcome was returned once. */
    async asked(hash: string): Promise<string | undefined> {
      return (await documents.get(ASKED + hash))?.value as string | undefined;
    },
    setAsked: async (hash: string, id: string): Promise<void> =>
      void (await documents.set(ASKED + hash, id, options())),
    forgetAsked: async (hash: string): Promise<void> => void (await documents.delete(ASKED + hash)),
  };
}
