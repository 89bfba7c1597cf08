import { randomUUID } from "node:crypto";
import { type Called, legacyClient, type McpClient, modernClient, sdkClient } from "./clients.ts";
import type { Fleet } from "./fleet.ts";

/** One call under load, and what its caller heard. */
export interface LoadedCall extends Called {
  readonly server: "old" | "young";
  readonly id: string;
}

/** Calls that keep coming from clients of both eras, through the proxy. */
export interface Load {
  /** What ended so far, in order. */
  readonly ended: readonly LoadedCall[];
  /** Lets each caller end its last call, and returns all of them. */
  stop(): Promise<readonly LoadedCall[]>;
}

/** Starts clients of the SDK and plain ones, half of them of each era, that call one after the other, each with an id that nobody else uses, at servers of both eras. */
export async function startLoad(fleet: Fleet, { callers = 4 }: { readonly callers?: number } = {}): Promise<Load> {
  const caller = { url: fleet.proxy.url, key: fleet.keys.asker };
  const ended: LoadedCall[] = [];
  const stopped = new AbortController();

  async function run(client: Pick<McpClient, "call">): Promise<void> {
    for (let count = 0; !stopped.signal.aborted; count++) {
      const server = count % 2 === 0 ? "old" : "young";
      const id = randomUUID();
      const { said, failed } = await client.call(`${server}-book`, { id });
      ended.push({ server, id, ...(said !== undefined && { said }), ...(failed !== undefined && { failed }) });
    }
  }

  const sdk = await Promise.all((["legacy", "auto"] as const).map((mode) => sdkClient(caller, mode)));
  const plain = await Promise.all(
    Array.from({ length: callers }, (_, index) => (index % 2 === 0 ? modernClient(caller) : legacyClient(caller))),
  );
  const running = [...sdk, ...plain].map(run);
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
