import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { repeats } from "../../kit/effort.ts";
import { type Called, legacyClient, modernClient, sdkClient } from "./clients.ts";
import type { Fleet } from "./fleet.ts";
import { restCaller, type RestCalled } from "./rest-caller.ts";

/** Between two calls of a client, in milliseconds. Clients without a pause take the processor from the gateways that start meanwhile. */
const PAUSE_MS = repeats(80, 0);

/** One call under load, and what its caller heard. */
export interface LoadedCall extends Called {
  readonly server: "old" | "young";
  readonly id: string;
  /** Times that it was sent. More than once only under an idempotency key, until a gateway answered. */
  readonly sent: number;
  /** The code of the error that it was answered with, over REST. */
  readonly code?: string;
}

/** Calls that keep coming from clients of both eras, through the proxy. */
export interface Load {
  /** What ended so far, in order. */
  readonly ended: readonly LoadedCall[];
  /** Lets each caller end its last call, and returns all of them. */
  stop(): Promise<readonly LoadedCall[]>;
}

export interface LoadOptions {
  /** Plain MCP clients, half of them of each era, besides two of the SDK. Defaults to 4. */
  readonly callers?: number;
  /** Clients of the REST API, half of them with idempotency keys. Defaults to none. */
  readonly rest?: number;
}

/** Starts clients that call one after the other, each call with an id that no other has, at servers of both eras. */
export async function startLoad(fleet: Fleet, { callers = 4, rest = 0 }: LoadOptions = {}): Promise<Load> {
  const caller = { url: fleet.proxy.url, key: fleet.keys.asker };
  const ended: LoadedCall[] = [];
  const stopped = new AbortController();

  async function run(book: (server: "old" | "young", id: string) => Promise<Called & Partial<RestCalled>>) {
    for (let count = 0; !stopped.signal.aborted; count++) {
      const server = count % 2 === 0 ? "old" : "young";
      const id = randomUUID();
      const { result: _, ...outcome } = await book(server, id);
      ended.push({ server, id, sent: 1, ...outcome });
      await pause(PAUSE_MS);
    }
  }

  const sdk = await Promise.all((["legacy", "auto"] as const).map((mode) => sdkClient(caller, mode)));
  const plain = await Promise.all(
    Array.from({ length: callers }, (_, index) => (index % 2 === 0 ? modernClient(caller) : legacyClient(caller))),
  );
  const overRest = Array.from({ length: rest }, (_, index) => restCaller(caller, { repeats: index % 2 === 0 }));
  const running = [
    ...[...sdk, ...plain].map((client) => run((server, id) => client.call(`${server}-book`, { id }))),
    ...overRest.map((call) => run((server, id) => call(`${server}.book`, { id }))),
  ];
  return {
    ended,
    async stop() {
      stopped.abort();
      await Promise.all(running);
      await Promise.all(sdk.map((client) => client.close()));
      return ended;
    },
  };
}
