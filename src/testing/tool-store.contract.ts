import assert from "node:assert/strict";
import type { ToolStore } from "../catalog/tool-store.port.ts";
import { defineTool } from "../tool/define-tool.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { sampleTools } from "./sample-tools.ts";

/** What every tool store must do. */
export function toolStoreContract(make: Make<ToolStore>): readonly ContractCase[] {
  return contract(make, {
    "gives back what was put, unchanged": async (store) => {
      await store.open();
      const tools = sampleTools();
      await store.put(tools);
      assert.deepEqual(await store.get(tools.map(({ id }) => id)), tools);
    },
    "opens twice without harm": async (store) => {
      await store.open();
      await store.put(sampleTools());
      await store.open();
      assert.equal(await store.count(), 5);
    },
    "replaces a tool of the same id": async (store) => {
      await store.open();
      const [first] = sampleTools();
      assert.ok(first);
      const changed = defineTool({ ...pick(first), description: "Something else entirely, on purpose." });
      await store.put([first]);
      await store.put([changed]);
      assert.equal(await store.count(), 1);
      assert.equal((await store.get([first.id]))[0]?.description, "Something else entirely, on purpose.");
    },
    "keeps the order asked for and leaves out unknown ids": async (store) => {
      await store.open();
      await store.put(sampleTools());
      const found = await store.get(["default.send_email", "default.nowhere", "default.create_user"]);
      assert.deepEqual(
        found.map(({ id }) => id),
        ["default.send_email", "default.create_user"],
      );
    },
    "lists by id, a page at a time, one namespace at a time": async (store) => {
      await store.open();
      await store.put([
        ...sampleTools(),
        defineTool({
          name: "other",
          namespace: "elsewhere",
          description: "A tool in another namespace.",
          parameters: { type: "object" },
        }),
      ]);
      const ids = (await store.list()).map(({ id }) => id);
      assert.deepEqual(ids, [...ids].sort());
      assert.equal(ids.length, 6);
      assert.deepEqual(
        (await store.list({ limit: 2, offset: 1 })).map(({ id }) => id),
        ids.slice(1, 3),
      );
      assert.deepEqual(
        (await store.list({ namespace: "elsewhere" })).map(({ id }) => id),
        ["elsewhere.other"],
      );
      assert.equal(await store.count({ namespace: "elsewhere" }), 1);
    },
    "deletes and says how many there were": async (store) => {
      await store.open();
      await store.put(sampleTools());
      assert.equal(await store.delete(["default.send_email", "default.nowhere"]), 1);
      assert.equal(await store.count(), 4);
      assert.deepEqual(await store.get(["default.send_email"]), []);
    },
    "is healthy when open and closes twice without harm": async (store) => {
      await store.open();
      assert.equal(await store.healthCheck(), true);
      await store.close();
      await store.close();
    },
  });
}

function pick({ name, parameters, namespace }: ReturnType<typeof defineTool>): {
  name: string;
  namespace: string;
  parameters: typeof parameters;
} {
  return { name, namespace, parameters };
}
