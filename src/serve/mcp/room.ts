import { createShares } from "../../base/shares.ts";

const MIB = 1024 * 1024;

/** The memory limits of one process for data of MCP clients, shared by all its addresses. */
export type McpRoom = ReturnType<typeof createMcpRoom>;

/** Divides the memory fairly. One caller may use all of it while no other caller needs it; shares are dropped to make room for callers with less. */
export function createMcpRoom({ sessions = 1000, streams = 256, suspended = 1000 } = {}) {
  return {
    /** Legacy sessions, including the descriptions and subscriptions of their clients. */
    sessions: createShares({ count: sessions, bytes: 64 * MIB }),
    /** Events that sessions store for clients that reconnect. */
    logs: createShares({ count: Infinity, bytes: 64 * MIB, perCaller: { bytes: 32 * MIB } }),
    streams: createShares({ count: streams }),
    /** Open requests over HTTP+SSE, which have no open HTTP request. */
    posted: createShares({ count: 1024, bytes: 64 * MIB, perCaller: { count: 256, bytes: 16 * MIB } }),
    /** Calls that wait for their client's answer, with their arguments. */
    suspended: createShares({ count: suspended, bytes: 64 * MIB, perCaller: { bytes: 16 * MIB } }),
    /** Calls that continue as tasks, with their arguments. */
    tasks: createShares({ count: 1000, bytes: 64 * MIB, perCaller: { bytes: 16 * MIB } }),
    /** Subscriptions of modern clients, including their URIs. */
    subscriptions: createShares({ count: 1000, bytes: 64 * MIB, perCaller: { bytes: 16 * MIB } }),
  };
}
