import assert from "node:assert/strict";
import type { AuditLog, AuditRecord, KeptRecord } from "../guard/audit.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** The contract of every audit log. */
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
    "keeps records in their order, whatever they must survive": async (log) => {
      const { seq } = await log.head();
      const survives = ["crash", "everything", "crash", undefined] as const;
      await Promise.all(
        survives.map((each, index) =>
          log.append(record(`tool-${index}`), each === undefined ? {} : { survives: each }),
        ),
      );
      assert.ok((await log.head()).seq >= seq + 4);
      const kept: unknown[] = [];
      for await (const each of (await log.read?.()) ?? []) if (each.kind === "call") kept.unshift(each["toolId"]);
      assert.ok(log.read === undefined || kept.join() === "tool-0,tool-1,tool-2,tool-3");
    },
    "reads its records back, newest first, from any place on, if it can be read": async (log) => {
      if (log.read === undefined) return;
      const last = 2_500;
      await Promise.all(Array.from({ length: last }, (_, index) => log.append(record(`tool-${index + 1}`))));
      const kept: KeptRecord[] = [];
      for await (const each of await log.read()) kept.push(each);
      const tools = kept.filter(({ kind }) => kind === "call").map(({ toolId }) => toolId);
      const expected = Array.from({ length: last }, (_, index) => `tool-${last - index}`);
      assert.deepEqual(tools, expected);
      assert.ok(kept.every(({ seq }, index) => index === 0 || seq === (kept[index - 1]?.seq ?? 0) - 1));
      for (const place of [1, 2, 7, 1_000, 1_001, 2_000, kept.length - 1]) {
        const { seq = 0 } = kept[place] ?? {};
        for await (const first of await log.read({ before: seq })) {
          assert.equal(first.seq, seq - 1);
          break;
        }
      }
      for await (const none of await log.read({ before: 1 })) assert.fail(`record ${none.seq} is not before the first`);
      await assert.rejects(async () => {
        for await (const each of (await log.read?.({ signal: AbortSignal.abort() })) ?? []) assert.fail(each.kind);
      });
    },
    "verifies itself, and that it reaches a head that was kept, if it can be read": async (log) => {
      if (log.verify === undefined) return;
      for (const toolId of ["a", "b", "c"]) await log.append(record(toolId));
      const head = await log.head();
      const found = await log.verify({ head });
      assert.ok(found.ok && found.head.seq === head.seq && found.records === head.seq);
      const other = await log.verify({ head: { seq: head.seq + 5, hash: head.hash } });
      assert.ok(!other.ok && other.reason.includes("missing"));
    },
    "can be verified after old records were pruned, and goes on, if it can be pruned": async (log) => {
      if (log.prune === undefined || log.verify === undefined || log.read === undefined) return;
      for (const toolId of ["a", "b", "c"]) await log.append(record(toolId));
      const kept: KeptRecord[] = [];
      for await (const each of await log.read()) kept.push(each);
      const everything = { before: (kept[0]?.at ?? 0) + 1, by: "dana" };
      const { seq, hash } = await log.head();
      assert.equal((await log.prune({ ...everything, dryRun: true })).records, kept.length);
      assert.equal((await log.prune({ before: kept.at(-1)?.at ?? 0, by: "dana" })).records, 0);
      assert.deepEqual(await log.head(), { seq, hash });
      assert.deepEqual(await log.prune(everything), { records: kept.length, through: { seq, hash } });
      await log.append(record("d"));
      const left: KeptRecord[] = [];
      for await (const each of await log.read()) left.unshift(each);
      const first = left.map(({ kind, by, throughSeq, throughHash }) => [kind, by, throughSeq, throughHash])[0];
      assert.deepEqual(first, ["pruned", "dana", seq, hash]);
      const head = await log.head();
      const found = await log.verify({ head });
      assert.ok(found.ok && found.prunedThrough === seq && found.records === head.seq - seq, JSON.stringify(found));
    },
    "keeps what was given before it was closed, refuses what comes after, and closes twice": async (log) => {
      const given = log.append(record("last"));
      await Promise.all([log.close(), log.close()]);
      await given;
      await assert.rejects(log.append(record("late")), { code: "CLOSED" });
    },
  });
}
