import { join } from "node:path";
import { redisMissing, startRedis } from "../../services/redis.ts";

/** What the replicas of a fleet share, and how a test takes it away. */
export interface StateService {
  /** Sections of the configuration that name it. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Takes it away: whoever uses it waits or fails. Returns what brings it back. */
  takeAway(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** One SQLite file. It is away while somebody else holds its lock. */
async function sqliteFile(folder: string): Promise<StateService> {
  const file = join(folder, "state.sqlite");
  return {
    settings: { state: { file } },
    async takeAway() {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(file, { timeout: 10_000 });
      database.exec("BEGIN EXCLUSIVE");
      return async () => {
        database.exec("ROLLBACK");
        database.close();
      };
    },
    close: async () => {},
  };
}

/** One Redis server. It is away while it takes connections and answers nothing. */
async function redisServer(): Promise<StateService> {
  const redis = await startRedis();
  return {
    settings: { state: { type: "redis", url: redis.url } },
    async takeAway() {
      redis.pause();
      return async () => redis.resume();
    },
    close: () => redis.stop(),
  };
}

const missing = redisMissing();
if (missing !== undefined) process.stderr.write(`Replicas on Redis are not tested: ${missing}\n`);

/** Every state that replicas can share. */
export const STATES: readonly { readonly name: string; open(folder: string): Promise<StateService> }[] = [
  { name: "a SQLite file", open: sqliteFile },
  ...(missing === undefined ? [{ name: "Redis", open: redisServer }] : []),
];
