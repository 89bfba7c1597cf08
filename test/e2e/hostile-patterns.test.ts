import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { documentOf } from "./openapi-echo.ts";
import { type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";

/** Nothing that these tests ask for takes a second. A process that hangs does not answer at all. */
const AT_ONCE = { withinMs: 10_000 };

let folder: string;
let gateway: KeyedGateway;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-patterns-"));
  gateway = await startKeyedGateway({
    settings: { audit: { file: join(folder, "audit.jsonl") } },
    security: { allowed_domains: ["127.0.0.1"] },
  });
});
afterEach(async () => {
  // A process that hangs takes no other signal.
  await gateway.kill();
  await gateway.close();
  rmSync(folder, { recursive: true });
});

/** Every place of an operation that a pattern is compared with holds this text, which no pattern below matches. */
const TEXT = "a".repeat(5_000);
const DOCUMENT = documentOf({
  [`/${TEXT}`]: { get: { operationId: TEXT, tags: [TEXT], responses: { 200: { description: "ok" } } } },
});

/** Each may be split over the text in more ways than anybody can count. */
const PATTERNS = ["*a".repeat(40), "*aa*a".repeat(30), "a*".repeat(50)].map((pattern) => `${pattern}*b`);

const LISTS = ["operationIds", "paths", "tags"] as const;

describe("an OpenAPI source with patterns that can be matched in many ways", () => {
  it.each(["include", "exclude"] as const)(
    "in %s holds up nobody",
    async (filter) => {
      for (const list of LISTS) {
        const patterns = { [filter]: { [list]: PATTERNS } };
        const source = { name: list.toLowerCase(), document: DOCUMENT, server: "https://api.example.com", ...patterns };
        const adding = gateway.ask("operator", "POST", "/api/v1/ensembles", { type: "openapi", ...source }, AT_ONCE);
        // It is awaited below. Others are answered meanwhile.
        adding.catch(() => undefined);
        const others = Array.from({ length: 5 }, () =>
          gateway.ask("guest", "GET", "/api/v1/tools", undefined, AT_ONCE),
        );
        expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
        const { status, body } = await adding;
        expect([list, status, body.tools]).toEqual([list, 201, filter === "include" ? 0 : 1]);
      }
    },
    30_000,
  );
});

describe("an operator's action that does not end", () => {
  it("is in the audit log before it runs, and after the process was killed", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void silent.close());
    onTestFinished(() => silent.closeAllConnections());
    await once(silent, "listening");
    const reached = once(silent, "request");
    const { port } = silent.address() as AddressInfo;
    const source = { name: "silent", document: `http://127.0.0.1:${port}/openapi.json` };
    const adding = gateway.ask("operator", "POST", "/api/v1/ensembles", { type: "openapi", ...source });
    const answered = adding.then(
      () => true,
      () => false,
    );
    await Promise.race([reached, adding]);
    const records = async (): Promise<unknown> =>
      (await gateway.ask("operator", "GET", "/api/v1/audit?kind=operator-action", undefined, AT_ONCE)).body.records;
    const expected = [{ action: "addEnsemble", targets: ["silent"], by: "operator", outcome: "started" }];
    expect(await records()).toMatchObject(expected);
    await gateway.kill();
    await gateway.start();
    expect(await answered).toBe(false);
    expect(await records()).toMatchObject(expected);
    expect((await gateway.ask("operator", "POST", "/api/v1/audit/verify", {})).body).toMatchObject({ ok: true });
  });
});
