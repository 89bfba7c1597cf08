import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Caller, type KeyedAnswer, type KeyedGateway, startKeyedGateway } from "./rest/keyed-gateway.ts";

/** A tool whose results are nearly as large as the largest that are kept, and one whose results tell each run apart. */
const MODULE = `let runs = 0;
export default (arsenal) => {
  arsenal.register({ name: "report", description: "Writes a report." }, () => "x".repeat(900_000));
  arsenal.register({ name: "order", description: "Orders a part." }, () => "order " + ++runs);
};`;

let folder: string;
let gateway: KeyedGateway;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolarsenal-results-"));
  writeFileSync(join(folder, "tools.mjs"), MODULE);
  gateway = await startKeyedGateway({
    nodeOptions: ["--max-old-space-size=256"],
    settings: { modules: [join(folder, "tools.mjs")], state: { type: "memory" } },
    security: { max_requests_per_minute: 100_000 },
  });
});
afterEach(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const call = (who: Caller, toolName: string, idempotencyKey: string): Promise<KeyedAnswer> =>
  gateway.ask(who, "POST", "/api/v1/execute", { toolName, arguments: {}, idempotencyKey });

it("large results under ever new idempotency keys neither end a process nor displace those of other callers", async () => {
  expect((await call("guest-a", "order", "mine")).body).toMatchObject({ result: "order 1" });
  for (let sent = 0; sent < 250; sent++) {
    const { status, body } = await call("guest", "report", `flood-${sent}`);
    expect([sent, status, body.status]).toEqual([sent, 200, "success"]);
  }
  // Results gave way, and their keys did not: nothing runs twice.
  expect((await call("guest", "report", "flood-0")).body).toMatchObject({
    code: "RESULT_TOO_LARGE",
    detail: expect.stringContaining("ran before (success) and was not repeated"),
  });
  expect((await call("guest", "report", "flood-249")).body).toMatchObject({ status: "success", replayed: true });
  expect((await call("guest-a", "order", "mine")).body).toMatchObject({ result: "order 1", replayed: true });
});
