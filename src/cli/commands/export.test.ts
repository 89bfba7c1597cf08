import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../test/e2e/terminal.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "arsenal-"))));
afterAll(() => rm(folder, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(["export", ...argv], { folder });

interface Printed {
  readonly tools: readonly { readonly name: string; readonly strict?: boolean }[];
  readonly losses: readonly object[];
}

describe("export", () => {
  it("prints every tool that may be seen, in the order of their ids", async () => {
    const { code, out, err } = await run("--dialect", "anthropic");
    const { tools } = JSON.parse(out) as Printed;
    expect(code).toBe(0);
    expect(tools.length).toBeGreaterThan(40);
    expect(tools.map(({ name }) => name)).toContain("billing-process_refund");
    expect(out).not.toContain("drop_table");
    expect(err).toContain(`${tools.length} tools for anthropic\n`);
  });

  it("prints the best few with --query [003-registry-export]", async () => {
    const { out } = await run(
      "--dialect",
      "mcp",
      "--query",
      "give the customer the money back",
      "--limit",
      "2",
      "--json",
    );
    const { tools } = JSON.parse(out) as Printed;
    expect(tools.map(({ name }) => name)).toHaveLength(2);
    expect(tools[0]?.name).toBe("billing-process_refund");
  });

  it("keeps strict mode within what one request may hold", async () => {
    const { tools } = JSON.parse((await run("--dialect", "anthropic", "--strict")).out) as Printed;
    const strict = tools.filter((tool) => tool.strict === true).length;
    expect(strict).toBeGreaterThan(0);
    expect(strict).toBeLessThanOrEqual(20);
  });

  it.each([
    [[], "--dialect is missing."],
    [["--dialect", "gpt"], '--dialect: dialect is "gpt", which is not a dialect.'],
    [["--dialect", "auto"], "--dialect: The dialect cannot be inferred from the hint: neither a model's name"],
  ])("%j is wrong usage: exit 2", async (argv, message) => {
    const { code, out, err } = await run(...argv);
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(message)]);
  });
});
