import assert from "node:assert/strict";
import type { AuditLog, AuditRecord } from "../guard/audit.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** What every audit log must do. */
export function auditContract(make: Make<AuditLog>): readonly ContractCase[] {
  const record = (toolId: string): AuditRecord => ({
    kind: "call",
    toolId,
    principal: "ä\n\u0000\uD83D\uDE00",
    decision: { effect: "allowed" },
    status: "success",
    attempts: 1,
    queuedMs: 0,
    latencyMs: 1.5,
    traceId: "0".repeat(32),
    spanId: "0".repeat(16),
  });
  const makeClosing: Make<AuditLog> = async () => {
    const { adapter, dispose } = await make();
    return { adapter, dispose: () => adapter.close().then(() => dispose?.()) };
  };
  return contract(makeClosing, {
    "has a name": async (log) => {
      assert.ok(log.name.length > 0);
    },
    "ends nowhere while it is empty": async (log) => {
      assert.deepEqual(await log.head(), { seq: 0, hash: "0".repeat(64) });
    },
    "ends further on, and elsewhere, with each record": async (log) => {
      const heads = [await log.head()];
      for (const toolId of ["a", "b", "b"]) {
        await log.append(record(toolId));
        heads.push(await log.head());
      }
      for (const [index, head] of heads.entries()) {
        assert.match(head.hash, /^[0-9a-f]{64}$/);
        assert.ok(index === 0 || head.seq > (heads[index - 1]?.seq ?? Infinity));
      }
      assert.equal(new Set(heads.map(({ hash }) => hash)).size, heads.length);
    },
    "keeps every one of many records that come at once": async (log) => {
      await log.append(record("first"));
      const { seq } = await log.head();
      await Promise.all(Array.from({ length: 500 }, (_, index) => log.append(record(`tool-${index}`))));
      assert.ok((await log.head()).seq >= seq + 500);
    },
    "keeps what was given before it was closed, refuses what comes after, and closes twice": async (log) => {
      const given = log.append(record("last"));
      await Promise.all([log.close(), log.close()]);
      await given;
      await assert.rejects(log.append(record("late")), { code: "CLOSED" });
    },
  });
}
