import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pglite, type RealPostgres, realPostgres } from "../../../test/services/postgres.ts";
import type { EmbeddedPostgres } from "./client.ts";
import { migrate } from "./migrate.ts";
import { openPostgres, type Postgres } from "./postgres.ts";

const use = { what: "The catalog", field: "vector_store.url" };
const server = await realPostgres();
afterAll(() => server?.remove());

/** A promise, and what fulfils it. */
function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  return Promise.withResolvers<void>();
}

describe("PGlite", () => {
  let embedded: EmbeddedPostgres & { close(): Promise<void> };
  beforeAll(async () => (embedded = await pglite()));
  afterAll(() => embedded.close());
  claims(() => ({ url: "postgres://unused", client: embedded }));
});

// because PostgreSQL is not installed everywhere; with CI=true its absence fails.
describe.skipIf(server === undefined)("a real server", () => {
  const real = server as RealPostgres;
  claims(() => ({ url: real.url }));

  it("hides the password and says how to fix it if it is wrong, and picks up a new one", async () => {
    let password = "wrong-password";
    const url = (): Promise<string> => Promise.resolve(real.url.replace(/:[0-9a-f]+@/, `:${password}@`));
    const postgres = openPostgres({ url, ...use });
    const failure = await postgres.query("SELECT 1").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "STORE_FAILED", details: { field: "vector_store.url" } });
    expect(String(failure)).toMatch(
      /The catalog cannot use PostgreSQL at postgres@.*password authentication failed.*Check the user and the password in vector_store.url/,
    );
    expect(String(failure)).not.toContain("wrong-password");
    password = new URL(real.url.replace("@/", "@x/")).password;
    expect(await postgres.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
    await postgres.close();
  });

  it("names an unknown database and a server that is away", async () => {
    const unknown = openPostgres({ url: real.url.replace("/postgres?", "/nowhere?"), ...use });
    await expect(unknown.query("SELECT 1")).rejects.toThrow(/"nowhere" does not exist. Create the database/);
    await unknown.close();
    const away = openPostgres({ url: "postgres://user:secret@127.0.0.1:1/x", ...use });
    await expect(away.query("SELECT 1")).rejects.toThrow(
      /user@127.0.0.1:1\/x: .*ECONNREFUSED.*Check that the server is running/,
    );
    await away.close();
  });

  it("ends a query that is aborted, and goes on with another connection", async () => {
    const postgres = openPostgres({ url: real.url, ...use });
    const abort = new AbortController();
    const slow = postgres.query("SELECT pg_sleep(60)", [], { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(slow).rejects.toThrow("enough");
    expect(await postgres.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
    await postgres.close();
  });

  it("runs a transaction again that met a deadlock", async () => {
    const postgres = openPostgres({ url: await real.database(), ...use });
    await postgres.query("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0), (2, 0)");
    const both = [signal(), signal()] as const;
    const add = (own: 0 | 1): Promise<void> =>
      postgres.transaction(async (query) => {
        await query("UPDATE t SET n = n + 1 WHERE id = $1", [own + 1]);
        both[own].resolve();
        await both[1 - own]?.promise;
        await query("UPDATE t SET n = n + 1 WHERE id = $1", [2 - own]);
      });
    await Promise.all([add(0), add(1)]);
    expect(await postgres.query("SELECT sum(n)::int AS sum FROM t", [])).toEqual([{ sum: 4 }]);
    await postgres.close();
  });

  it("listens again by itself after the server was killed", async () => {
    const postgres = openPostgres({ url: real.url, ...use });
    let connected = signal();
    let heard = signal();
    const texts: string[] = [];
    const end = postgres.listen(
      "news",
      (text) => (texts.push(text), heard.resolve()),
      () => connected.resolve(),
    );
    await connected.promise;
    connected = signal();
    await real.kill();
    await real.start();
    await connected.promise;
    heard = signal();
    await postgres.query("SELECT pg_notify('news', 'back')", []);
    await heard.promise;
    expect(texts).toEqual(["back"]);
    end();
    await postgres.close();
  });

  it("lets one of many processes bring tables up to date", async () => {
    const url = await real.database();
    const many = Array.from({ length: 5 }, () => openPostgres({ url, ...use }));
    await Promise.all(many.map((postgres) => migrate(postgres, PART)));
    expect(await many[0]?.query("SELECT n FROM toolarsenal.things", [])).toEqual([{ n: 1 }]);
    for (const postgres of many) await postgres.close();
  });
});

const PART = {
  name: "things",
  steps: ["CREATE TABLE toolarsenal.things (n int); INSERT INTO toolarsenal.things VALUES (1)"],
};

function claims(options: () => { readonly url: string; readonly client?: EmbeddedPostgres }): void {
  const using = async (work: (postgres: Postgres) => Promise<void>): Promise<void> => {
    const postgres = openPostgres({ ...options(), ...use });
    await postgres.query("DROP SCHEMA IF EXISTS toolarsenal CASCADE");
    await work(postgres).finally(() => postgres.close());
  };

  it("binds values and returns rows as objects, with bigint as a number", () =>
    using(async (postgres) => {
      const rows = await postgres.query("SELECT $1::text AS text, $2::bigint AS big, $3::text[] AS list", [
        "'; DROP",
        5,
        ["a", "b,c"],
      ]);
      expect(rows).toEqual([{ text: "'; DROP", big: 5, list: ["a", "b,c"] }]);
    }));

  it("rolls back a transaction that fails", () =>
    using(async (postgres) => {
      await migrate(postgres, PART);
      const failing = postgres.transaction(async (query) => {
        await query("INSERT INTO toolarsenal.things VALUES (2)", []);
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await postgres.query("SELECT n FROM toolarsenal.things", [])).toEqual([{ n: 1 }]);
    }));

  it("hears notifications until it is told to stop", () =>
    using(async (postgres) => {
      const connected = signal();
      let heard = signal();
      const texts: string[] = [];
      const end = postgres.listen("News", (text) => (texts.push(text), heard.resolve()), connected.resolve);
      await connected.promise;
      await postgres.query("SELECT pg_notify('News', 'one')", []);
      await heard.promise;
      heard = signal();
      end();
      expect(texts).toEqual(["one"]);
    }));

  it("adds the steps that are missing, and refuses tables of a newer version untouched", () =>
    using(async (postgres) => {
      await migrate(postgres, PART);
      const later = { ...PART, steps: [...PART.steps, "ALTER TABLE toolarsenal.things ADD m int DEFAULT 7"] };
      await migrate(postgres, later);
      await migrate(postgres, later);
      expect(await postgres.query("SELECT n, m FROM toolarsenal.things", [])).toEqual([{ n: 1, m: 7 }]);
      await expect(migrate(postgres, PART)).rejects.toThrow(/later release \(version 2, this release knows 1\)/);
      expect(await postgres.query("SELECT n, m FROM toolarsenal.things", [])).toEqual([{ n: 1, m: 7 }]);
    }));

  it("refuses work once it is closed", async () => {
    const postgres = openPostgres({ ...options(), ...use });
    await postgres.close();
    await expect(postgres.query("SELECT 1")).rejects.toMatchObject({ code: "CLOSED" });
  });
}
