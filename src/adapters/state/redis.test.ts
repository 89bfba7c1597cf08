import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, it } from "vitest";
import { createClient } from "redis";
import { redisMissing, type RedisService, startRedis } from "../../../test/services/redis.ts";
import { changesContract, limitsContract, type StateBackend, stateContract } from "../../testing/index.ts";
import { type RedisClient, redisState } from "./redis.ts";

const missing = redisMissing();
let server: RedisService;
beforeAll(async () => {
  if (missing === undefined) server = await startRedis();
});
afterAll(() => server?.stop());

/** Handles on one server whose every answer can be waited for. */
function answering(): StateBackend {
  const keyPrefix = randomUUID();
  const pending = new Set<Promise<unknown>>();
  const clients = new Set<{ ping(): Promise<unknown> }>();
  const track = <Value>(work: Promise<Value>): Promise<Value> => {
    pending.add(work);
    work.finally(() => pending.delete(work)).catch(() => {});
    return work;
  };
  const open = (): RedisClient => {
    const client = createClient({ url: server.url, socket: { reconnectStrategy: false } });
    return {
      connect: () => track(client.connect().then(() => void clients.add(client))),
      eval: (script, options) => track(client.eval(script, options)),
      evalSha: (sha1, options) => track(client.evalSha(sha1, options)),
      subscribe: (channel, listener) => track(client.subscribe(channel, listener)),
      unsubscribe: (channel) => track(client.unsubscribe(channel)),
      on: (event, listener) => client.on(event, listener),
      destroy() {
        clients.delete(client);
        client.destroy();
      },
    };
  };
  return {
    open: (clock) => redisState({ client: open, keyPrefix, clock, now: clock.now }),
    // A server sends messages before it answers what it is asked later.
    async settle() {
      do {
        await Promise.allSettled(pending);
        await Promise.allSettled([...clients].map((client) => client.ping()));
        await new Promise((resolve) => void setImmediate(resolve));
      } while (pending.size > 0);
    },
  };
}

// because redis-server may not be installed; CI has it
describe.skipIf(missing !== undefined)("redisState, as shared state", () => {
  const cases = [...stateContract(answering), ...limitsContract(answering), ...changesContract(answering)];
  for (const { name, run } of cases) it(name, run);
});
