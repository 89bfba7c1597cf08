import assert from "node:assert/strict";
import { defineTool } from "../tool/define-tool.ts";
import type { Dialect } from "../transcode/dialect.port.ts";
import { contract, type ContractCase, type Make } from "./contract.ts";
import { sampleTools } from "./sample-tools.ts";

/** What every dialect must do. */
export function dialectContract(make: Make<Dialect>): readonly ContractCase[] {
  return contract(make, {
    "writes definitions that survive JSON": async (dialect) => {
      for (const tool of sampleTools()) {
        const definition = dialect.fromCanonical(tool);
        assert.deepEqual(JSON.parse(JSON.stringify(definition)), definition);
      }
    },
    "carries the description and every parameter": async (dialect) => {
      for (const tool of sampleTools()) {
        const text = JSON.stringify(dialect.fromCanonical(tool));
        assert.ok(text.includes(tool.description));
        for (const name of Object.keys(tool.parameters.properties ?? {})) assert.ok(text.includes(`"${name}"`));
      }
    },
    "gives names that model APIs accept, different for different tools": async (dialect) => {
      const long = "x".repeat(100);
      const tools = ["a", "b"].map((namespace) =>
        defineTool({
          name: long,
          namespace,
          description: "A tool with a very long name.",
          parameters: { type: "object" },
        }),
      );
      const names = [...sampleTools(), ...tools].map((tool) => findName(dialect.fromCanonical(tool)));
      for (const name of names) assert.match(name ?? "", /^[a-zA-Z0-9_-]{1,64}$/);
      assert.equal(new Set(names).size, names.length);
    },
  });
}

function findName(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("name" in value && typeof value.name === "string") return value.name;
  return Object.values(value).map(findName).find(Boolean);
}
