// From manifest.ts, by `npm run derive`:
export { memoryState, type MemoryStateOptions } from "./memory.ts";
export { redisState, type RedisClient, type RedisEvalOptions, type RedisStateOptions } from "./redis.ts";
export { postgresState, type PostgresStateOptions } from "./postgres.ts";
export { sqliteState, type SqliteStateOptions } from "./sqlite.ts";
// The rest of toolarsenal/state:
export type { Changes, Lease, Leases } from "../../state/changes.port.ts";
export type * from "../../state/limits.port.ts";
export type { SharedState } from "../../state/shared-state.ts";
export type {
  ListedState,
  State,
  StateEntry,
  StateListOptions,
  StateOptions,
  StateSetOptions,
} from "../../state/state.port.ts";
