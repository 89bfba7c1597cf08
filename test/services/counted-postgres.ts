import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type EmbeddedPostgres,
  isEmbedded,
  type PostgresClient,
  type PostgresConnection,
} from "../../src/adapters/postgres/client.ts";

/** A client that knows when the database has answered everything it was asked. */
export function countedPostgres(client: PostgresClient): {
  readonly client: PostgresClient;
  /** How often it was asked. */
  readonly asked: number;
  /** Resolves then. */
  settle(): Promise<void>;
} {
  let open = 0;
  let asked = 0;
  async function counting<Value>(work: () => Promise<Value>): Promise<Value> {
    open++;
    asked++;
    try {
      return await work();
    } finally {
      open--;
    }
  }
  return {
    client: isEmbedded(client) ? countedEmbedded(client, counting) : countedPool(client, counting),
    get asked() {
      return asked;
    },
    async settle() {
      for (let quiet = 0; quiet < 3; quiet = open === 0 ? quiet + 1 : 0) await nextTurn();
    },
  };
}

type Counting = <Value>(work: () => Promise<Value>) => Promise<Value>;

function countedEmbedded(client: EmbeddedPostgres, counting: Counting): EmbeddedPostgres {
  return {
    query: (sql, values) => counting(() => client.query(sql, values)),
    exec: (sql) => counting(() => client.exec(sql)),
    transaction: (work) => counting(() => client.transaction(work)),
    listen: (channel, listener) => counting(() => client.listen(channel, listener)),
  };
}

function countedPool(client: Exclude<PostgresClient, EmbeddedPostgres>, counting: Counting): PostgresClient {
  return {
    connect: () =>
      counting(async () => {
        const connection = await client.connect();
        return new Proxy(connection, {
          get(target, key: keyof PostgresConnection) {
            if (key === "query") return (sql: string, values?: unknown[]) => counting(() => target.query(sql, values));
            const value: unknown = target[key];
            return typeof value === "function" ? value.bind(target) : value;
          },
        });
      }),
  };
}
