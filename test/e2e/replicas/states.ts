import { join } from "node:path";
import { repeats } from "../../kit/effort.ts";
import { postgresMissing, type RealPostgres, realPostgres } from "../../services/postgres.ts";
import { redisMissing, startRedis } from "../../services/redis.ts";

/** What the replicas of a fleet share, and what can happen to it. */
export interface StateService {
  /** Sections of the configuration that name it, and the audit log. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Ways in which it goes away. */
  readonly troubles: Readonly<Record<string, Trouble>>;
  /** Sections that name an empty state on the same servers. Nobody may use the earlier state any more. */
  renew(): Promise<StateService["settings"]>;
  close(): Promise<void>;
}

/** Takes a part of the state away. */
export interface Trouble {
  /** How long it lasts. */
  readonly ms: number;
  /** What cannot be used meanwhile. */
  readonly away: readonly ("documents" | "limits")[];
  /** Begins it. Returns what ends it. */
  begin(): Promise<() => Promise<void>>;
}

/** A kind of state that replicas can share. */
export interface StateKind {
  readonly name: string;
  readonly troubles: readonly string[];
  open(folder: string): Promise<StateService>;
}

const SECRET = "nobody outside this test knows this secret";

/** One SQLite file. Another program may hold its lock. */
const sqlite: StateKind = {
  name: "a SQLite file",
  troubles: ["is locked"],
  async open(folder) {
    let files = 0;
    const file = join(folder, "state.sqlite");
    const settingsOf = (state: string): StateService["settings"] => ({
      state: { file: state },
      audit: { file: join(folder, "audit.jsonl") },
    });
    async function lock(): Promise<() => Promise<void>> {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(file, { timeout: 10_000 });
      database.exec("BEGIN EXCLUSIVE");
      return async () => {
        database.exec("ROLLBACK");
        database.close();
      };
    }
    const troubles = {
      "is locked": { ms: 8_000, away: ["documents", "limits"], begin: lock } as const,
    };
    const renew = async () => settingsOf(join(folder, `state-${++files}.sqlite`));
    return { settings: settingsOf(file), troubles, renew, close: async () => {} };
  },
};

/** Documents and the audit log in PostgreSQL, limits in Redis. */
const servers: StateKind = {
  name: "PostgreSQL and Redis",
  troubles: ["has a Redis that does not answer", "has a PostgreSQL that is killed and started again"],
  async open() {
    const redis = await startRedis();
    const postgres = (await realPostgres()) as RealPostgres;
    async function renew(): Promise<StateService["settings"]> {
      redis.command("FLUSHALL");
      const url = await postgres.database();
      return {
        state: { type: "postgres", url, limits: { type: "redis", url: redis.url } },
        audit: { type: "postgres", url, secret: SECRET },
      };
    }
    return {
      settings: await renew(),
      renew,
      troubles: {
        "has a Redis that does not answer": {
          ms: repeats(6_000, 20_000),
          away: ["limits"],
          async begin() {
            redis.pause();
            return async () => redis.resume();
          },
        },
        "has a PostgreSQL that is killed and started again": {
          ms: 3_000,
          away: ["documents"],
          async begin() {
            await postgres.kill();
            return () => postgres.start();
          },
        },
      },
      async close() {
        await Promise.all([redis.stop(), postgres.remove()]);
      },
    };
  },
};

/** Everything in Redis. The audit log is a file. */
const redisAlone: StateKind = {
  name: "Redis",
  troubles: [],
  async open(folder) {
    const redis = await startRedis();
    const settings = { state: { type: "redis", url: redis.url }, audit: { file: join(folder, "audit.jsonl") } };
    async function renew(): Promise<StateService["settings"]> {
      redis.command("FLUSHALL");
      return settings;
    }
    return { settings, troubles: {}, renew, close: () => redis.stop() };
  },
};

/** Everything in PostgreSQL. */
const postgresAlone: StateKind = {
  name: "PostgreSQL",
  troubles: [],
  async open() {
    const postgres = (await realPostgres()) as RealPostgres;
    async function renew(): Promise<StateService["settings"]> {
      const url = await postgres.database();
      return { state: { type: "postgres", url }, audit: { type: "postgres", url, secret: SECRET } };
    }
    return { settings: await renew(), troubles: {}, renew, close: () => postgres.remove() };
  },
};

const [noRedis, noPostgres] = [redisMissing(), postgresMissing()];
const noServers = noRedis ?? noPostgres;
if (noServers !== undefined) process.stderr.write(`Replicas are tested on a SQLite file alone: ${noServers}\n`);

/** Every kind of state that this machine has. */
export const STATES: readonly StateKind[] = noServers === undefined ? [sqlite, servers] : [sqlite];

/** Each store by itself, as far as this machine has it. */
export const STORES: readonly StateKind[] = [
  sqlite,
  ...(noRedis === undefined ? [redisAlone] : []),
  ...(noPostgres === undefined ? [postgresAlone] : []),
];
