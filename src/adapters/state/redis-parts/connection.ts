import { ArsenalError } from "../../../errors/arsenal-error.ts";
import type { Clock } from "../../../observe/clock.ts";
import { createLookout } from "../../../state/lookout.ts";
import { tellAll } from "../../../state/topics.ts";
import { backoffMs } from "../../../base/turns/backoff.ts";
import { toFailure } from "./failure.ts";
import type { Script } from "./script.ts";

/** The methods that are used of a client of the `redis` package. `createClient` and `createCluster` create such a client. */
export interface RedisClient {
  connect(): Promise<unknown>;
  eval(script: string, options: RedisEvalOptions): Promise<unknown>;
  evalSha(sha1: string, options: RedisEvalOptions): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  destroy(): void;
  /** Allows the process to end while the connection is open. */
  unref?(): void;
  ref?(): void;
}

/** The keys and arguments of a Lua script. */
export interface RedisEvalOptions {
  keys: string[];
  arguments: string[];
}

/** The timeout of connecting and of responses. */
const ANSWER_MS = 2_000;

const BACKOFF = { firstMs: 50, longestMs: 1_000 };

export type Connection = ReturnType<typeof createConnection>;

interface Link {
  readonly client: RedisClient;
  readonly born: string;
  /** How far the server's clock is ahead of this process's clock. */
  aheadMs: number;
}

/** Creates a connection that is opened on first use, and reopened whenever it is lost. */
export function createConnection(options: {
  readonly open: () => RedisClient | Promise<RedisClient>;
  readonly scripts: readonly Script[];
  /** The prefix of every key. */
  readonly root: string;
  /** The name of the server in errors. */
  readonly address: () => string;
  readonly clock: Clock;
  /** The time for a test. Defaults to the server's time. */
  readonly now?: (() => number) | undefined;
}) {
  const { open, scripts, root, address, clock, now } = options;
  const channels = new Map<string, () => void>();
  const watchers = new Set<(change: Error | { readonly born: string }) => void>();
  const pending = new Set<Promise<unknown>>();
  let opening: Promise<Link> | undefined;
  let ready: Link | undefined;
  let away: ArsenalError | undefined;
  let retries = 0;
  let cancelRetry: (() => void) | undefined;
  let closed = false;

  async function openLink(): Promise<Link> {
    const client = await open();
    const broken = new Promise<never>((_, reject) => {
      client.on("error", (error) => {
        reject(error);
        lost(client, error);
      });
    });
    broken.catch(() => {});
    const started = async (): Promise<Link> => {
      await client.connect();
      const sentAt = clock.now();
      // Loads every script in advance, so commands run in the order in which they are sent.
      const [[server, born] = ["", ""]] = (await Promise.all(
        scripts.map(({ text }) => client.eval(text, { keys: [root], arguments: ["start", "9e15", stamp()] })),
      )) as [string, string][];
      return { client, born, aheadMs: Number(server) - sentAt };
    };
    try {
      return await withinTime(Promise.race([started(), broken]), clock);
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  function connect(): Promise<Link> {
    cancelRetry = undefined;
    const link = openLink();
    opening = link;
    link.then(opened, failed);
    return link;
  }

  function opened(link: Link): void {
    if (closed) return link.client.destroy();
    [ready, away, retries] = [link, undefined, 0];
    if (pending.size === 0) link.client.unref?.();
    for (const channel of channels.keys()) listen(channel);
    tellAll(watchers, { born: link.born });
  }

  function failed(error: unknown): void {
    opening = undefined;
    if (closed) return;
    away = toFailure(error, address(), true);
    cancelRetry = clock.after(backoffMs(retries++, BACKOFF), () => void connect(), { background: true });
  }

  function lost(client: RedisClient, error: Error): void {
    if (ready?.client !== client) return;
    ready = undefined;
    client.destroy();
    tellAll(watchers, toFailure(error, address(), false));
    if (!closed) void connect();
  }

  function listen(channel: string): void {
    const heard = (): void => channels.get(channel)?.();
    ready?.client.subscribe(channel, heard).then(heard, () => {});
  }

  function refuseIfClosed(): void {
    if (closed) throw new ArsenalError("CLOSED", "This state was closed. Create a new one.");
  }

  /** Returns the connection, or the one being opened. While the server is unavailable, callers do not wait for it. */
  function find(): Promise<Link> {
    if (away !== undefined) throw away;
    return opening ?? connect();
  }

  function stamp(): string {
    return now === undefined ? "" : String(now());
  }

  async function ask({ client, aheadMs }: Link, { text, sha1 }: Script, given: readonly string[]): Promise<unknown> {
    const [action = "", ...rest] = given;
    const deadline = String(clock.now() + aheadMs + ANSWER_MS);
    const sent = { keys: [root], arguments: [action, deadline, stamp(), ...rest] };
    const asked = client.evalSha(sha1, sent).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith("NOSCRIPT")) return client.eval(text, sent);
      throw error;
    });
    return withinTime(asked, clock);
  }

  async function run(script: Script, given: readonly string[]): Promise<unknown> {
    let link: Link;
    try {
      link = ready ?? (await find());
    } catch (error) {
      throw toFailure(error, address(), true);
    }
    refuseIfClosed();
    try {
      return await ask(link, script, given);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // Either the server's clock was changed meanwhile, or the command was really late. In the first case, a second attempt succeeds.
      const late = /^LATE (\S+)/.exec(message);
      if (late !== null) {
        link.aheadMs = Number(late[1]) - clock.now();
        return await ask(link, script, given).catch((again: unknown) => {
          throw toFailure(again, address(), false);
        });
      }
      // Such a server accepts no commands. Another server may have replaced it.
      if (error instanceof TimedOut || /^(READONLY|LOADING|MASTERDOWN)/.test(message))
        lost(link.client, error as Error);
      throw toFailure(error, address(), false);
    }
  }

  return {
    /** Runs a script. Rejects with STORE_FAILED within a few seconds if the server is unavailable. `beforeSend` means that nothing happened. */
    async run(script: Script, action: string, given: readonly string[], signal?: AbortSignal): Promise<unknown> {
      signal?.throwIfAborted();
      refuseIfClosed();
      if (pending.size === 0) ready?.client.ref?.();
      const running = run(script, [action, ...given]);
      pending.add(running);
      try {
        return await running;
      } finally {
        pending.delete(running);
        if (pending.size === 0) ready?.client.unref?.();
      }
    },
    /** Polls after each message on a channel, after a reconnection, and every `ms` milliseconds. Returns a function that stops the polling. */
    follow(channel: string, look: () => Promise<unknown>, ms: number) {
      const { soon, stop } = createLookout(clock, ms, look);
      channels.set(channel, soon);
      if (ready !== undefined) listen(channel);
      else if (!closed && away === undefined) void find();
      return () => {
        stop();
        if (channels.get(channel) !== soon) return;
        channels.delete(channel);
        ready?.client.unsubscribe(channel).catch(() => {});
      };
    },
    /** Calls the listener with the id of the server's data set when the connection opens, and with an error when it is lost. */
    watch: (listener: (change: Error | { readonly born: string }) => void) => void watchers.add(listener),
    async close() {
      await Promise.allSettled(pending);
      closed = true;
      cancelRetry?.();
      ready?.client.destroy();
      ready = undefined;
    },
  };
}

class TimedOut extends Error {}

/** Rejects if the work takes too long. A response that arrived in time still counts if this process was too busy to read it. */
async function withinTime<Value>(work: Promise<Value>, clock: Clock): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(ANSWER_MS, () => {
    setImmediate(() => setImmediate(() => reject(new TimedOut(`no answer within ${ANSWER_MS / 1_000} s`))));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
