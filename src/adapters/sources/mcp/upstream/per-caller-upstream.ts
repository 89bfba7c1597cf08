import { ArsenalError } from "../../../../errors/arsenal-error.ts";
import { systemClock } from "../../../../observe/clock.ts";
import { untilAborted } from "../../../../base/turns/until-aborted.ts";
import type { Caller } from "../../../../tool/handler.ts";
import { keyOf } from "../oauth/user-tokens.ts";
import type { UserAccounts } from "./user-accounts.ts";
import { createUpstream, type McpUpstream, type UpstreamParts } from "./upstream.ts";
import type { McpServerSettings } from "../settings.ts";

interface CallerUpstream {
  readonly caller: Caller;
  readonly upstream: McpUpstream;
  users: number;
  cancelIdle?: () => void;
}

/** After this long without a request, a caller's connections are closed. */
const IDLE_MS = 300_000;

/**
 * Creates an upstream whose callers have their own credentials, and so their own connections. Tools are listed with the credentials `_default`, which
 * belong to no caller.
 */
export function createPerCallerUpstream(
  settings: McpServerSettings,
  { accounts, ...parts }: UpstreamParts & { readonly accounts?: UserAccounts | undefined } = {},
): McpUpstream {
  const { clock = systemClock } = parts;
  const shared = createUpstream(settings, { ...parts, ...(accounts && { oauth: accounts.listing }) });
  const owned = new Map<string, CallerUpstream>();
  let closed = false;
  const stopWatching = accounts?.watch((account) => {
    const own = owned.get(account);
    // A person who signed out is disconnected, even during calls.
    const end = async (): Promise<void> => {
      if (own !== undefined && !(await accounts.isSignedIn(own.caller))) await drop(account, own);
      await shared.retry();
    };
    void end().catch(() => own && drop(account, own));
  });

  /** Returns a caller's own upstream; undefined if the caller uses the gateway's upstream. */
  async function open(caller: Caller): Promise<CallerUpstream | undefined> {
    if (accounts === undefined) return { caller, upstream: createUpstream(settings, { ...parts, caller }), users: 0 };
    const oauth = await accounts.open(caller);
    return oauth && { caller, upstream: createUpstream(settings, { ...parts, caller, oauth }), users: 0 };
  }

  async function drop(key: string, own: CallerUpstream): Promise<void> {
    if (owned.get(key) === own) owned.delete(key);
    await own.upstream.close();
  }

  /** Keeps a caller's upstream open until the returned function is called. */
  async function take(caller: Caller | undefined, signal: AbortSignal | undefined) {
    if (caller === undefined) {
      const message = `The MCP server "${settings.name}" has separate credentials for each caller, but this request has no caller.`;
      throw new ArsenalError("PERMISSION_DENIED", message, {
        fix: "Make the request as a principal.",
        beforeSend: true,
      });
    }
    if (closed) throw new ArsenalError("CLOSED", `The MCP server "${settings.name}" was closed.`, { beforeSend: true });
    const key = keyOf(caller);
    const opened = owned.get(key) ?? (await open(caller));
    if (opened === undefined) return { upstream: shared, release: () => undefined };
    // Another call of the same caller may have created the upstream meanwhile.
    const own = owned.get(key) ?? opened;
    if (own !== opened) await opened.upstream.close();
    owned.set(key, own);
    own.users++;
    own.cancelIdle?.();
    const release = (): void => {
      own.users--;
      if (own.users > 0 || owned.get(key) !== own) return;
      own.cancelIdle = clock.after(IDLE_MS, () => void drop(key, own), { background: true });
    };
    try {
      await untilAborted(own.upstream.attempted, signal);
    } catch (error) {
      release();
      throw error;
    }
    const { state } = own.upstream;
    if (state.kind !== "failed") return { upstream: own.upstream, release };
    // Not retried in the background: for a caller without credentials, the retries would never end.
    await drop(key, own);
    throw state.error;
  }

  return {
    ...shared,
    get state() {
      return shared.state;
    },
    async request(method, params, { caller, ...options } = {}) {
      const { upstream, release } = await take(caller, options.signal);
      try {
        return await upstream.request(method, params, options);
      } finally {
        release();
      }
    },
    async subscribe() {
      const message = `The MCP server "${settings.name}" has separate credentials for each caller, so clients cannot be notified of its changes.`;
      throw new ArsenalError("EXECUTION_FAILED", message, { fix: "Read the resource again.", beforeSend: true });
    },
    async openSession(client, { caller, ...options } = {}) {
      const { upstream, release } = await take(caller, options.signal);
      try {
        const session = await upstream.openSession(client, options);
        session.onClosed(release);
        return session;
      } catch (error) {
        release();
        throw error;
      }
    },
    async close() {
      closed = true;
      stopWatching?.();
      const all = [...owned.values()];
      owned.clear();
      for (const { cancelIdle } of all) cancelIdle?.();
      await Promise.all([shared.close(), ...all.map(({ upstream }) => upstream.close())]);
    },
  };
}
