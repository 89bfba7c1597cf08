import assert from "node:assert/strict";
import type { Source } from "../register/source.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";

/** The contract of every source. The source under test must offer at least one tool. */
export function sourceContract(make: Make<Source>): readonly ContractCase[] {
  const { signal } = new AbortController();
  const namesOf = async (source: Source) => (await source.list({ signal })).map(({ draft }) => draft.name);
  return contract(make, {
    "has a name and a kind": async (source) => {
      assert.ok(source.name.length > 0);
      assert.ok(source.kind.length > 0);
    },
    "lists its tools, each with a handler": async (source) => {
      await source.connect({ signal });
      const offered = await source.list({ signal });
      assert.ok(offered.length > 0);
      for (const { draft, handler } of offered) {
        assert.equal(typeof draft.name, "string");
        assert.equal(typeof handler, "function");
      }
      await source.disconnect();
    },
    "lists the same tools twice": async (source) => {
      await source.connect({ signal });
      assert.deepEqual(await namesOf(source), await namesOf(source));
      await source.disconnect();
    },
    "disconnects twice, and before it was connected, without harm": async (source) => {
      await source.disconnect();
      await source.disconnect();
    },
    "can be connected again after it was disconnected, or makes another source that can": async (source) => {
      await source.connect({ signal });
      const first = await namesOf(source);
      await source.disconnect();
      const again = source.again?.() ?? source;
      await again.connect({ signal });
      await again.reload?.({ signal });
      assert.deepEqual(await namesOf(again), first);
      await again.disconnect();
    },
    "does not connect after it was stopped": async (source) => {
      await assert.rejects(source.connect({ signal: AbortSignal.abort() }));
    },
  });
}
