import { describe, expect, it } from "vitest";
import { hmacKey } from "../../guard/audit/key.ts";
import { createVerifier } from "../../guard/audit/verifier.ts";
import { auditContract } from "../../testing/audit.contract.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { memoryAudit } from "./memory.ts";

describe("memoryAudit, as an audit log", () => {
  for (const { name, run } of auditContract(() => ({ adapter: memoryAudit() }))) it(name, run);
});

describe("memoryAudit", () => {
  it("has the lines of a log that verifies, signed at the start, in between and at the end", async () => {
    const key = hmacKey("a secret of thirty-two characters");
    const log = memoryAudit({ clock: createManualClock(7), key, checkpointEvery: 3 });
    for (let records = 1; records <= 3; records++) await log.append({ kind: "gap", records });
    await log.close();
    const kinds = log.lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds).toEqual(["checkpoint", "gap", "gap", "checkpoint", "gap", "checkpoint"]);
    const verifier = createVerifier({ keys: [key] });
    for (const line of log.lines) verifier.take(Buffer.from(line));
    expect(verifier.end()).toEqual({ ok: true, records: 6, head: await log.head(), signedUpTo: 6, missing: 6 });
  });
});
