import type { ServerCredentials } from "./credentials.ts";

/** Keeps what authorization servers gave us, by the address of the MCP server it is for. */
export interface TokenStore {
  read(serverUrl: string): Promise<ServerCredentials>;
  /** Changes what is kept for one server. Changes by others, in this process or another, are neither lost nor undone. */
  update(serverUrl: string, change: (current: ServerCredentials) => ServerCredentials): Promise<ServerCredentials>;
  /** Runs `work` while nobody else does the same for this server, here or in another process. */
  exclusively<T>(serverUrl: string, work: () => Promise<T>): Promise<T>;
}

/** Nothing kept yet. */
export const NO_CREDENTIALS: ServerCredentials = Object.freeze({ byIssuer: Object.freeze({}) });

/** Keeps credentials for as long as the process runs. */
export function createTokenMemory(): TokenStore {
  const kept = new Map<string, ServerCredentials>();
  const turns = new Map<string, Promise<unknown>>();

  return {
    read: (serverUrl) => Promise.resolve(kept.get(serverUrl) ?? NO_CREDENTIALS),
    update(serverUrl, change) {
      const changed = change(kept.get(serverUrl) ?? NO_CREDENTIALS);
      kept.set(serverUrl, changed);
      return Promise.resolve(changed);
    },
    exclusively(serverUrl, work) {
      const turn = (turns.get(serverUrl) ?? Promise.resolve()).then(work, work);
      turns.set(
        serverUrl,
        turn.catch(() => undefined),
      );
      return turn;
    },
  };
}
