// From manifest.ts, by `npm run derive`:
export { memoryState, type MemoryStateOptions } from "./memory.ts";
export { sqliteState, type SqliteStateOptions } from "./sqlite.ts";
// The rest of toolarsenal/state:
export type { ListedState, State, StateEntry, StateOptions, StateSetOptions } from "../../state/state.port.ts";
