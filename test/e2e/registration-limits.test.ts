import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { rulesPolicy } from "../../src/adapters/policies/index.ts";

const draft = (name: string, namespace: string) => ({
  name,
  namespace,
  description: `Does ${name} well enough.`,
  parameters: { type: "object" },
});

/** An arsenal under a policy with these presets. */
function arsenalWith(presets: readonly unknown[]): ToolArsenal {
  return new ToolArsenal({ telemetry: { enabled: false }, policy: rulesPolicy({ version: 1, presets } as never) });
}

describe("a policy's presets for registration", () => {
  it("refuse a tool too many and leave the others [002-security-max-tools]", async () => {
    await using arsenal = arsenalWith([{ maxTools: 2 }]);
    await arsenal.addTool(draft("open", "a"));
    const { registered, rejected } = await arsenal.add(["shut", "lock"].map((name) => ({ tool: draft(name, "a") })));
    expect([registered.map(({ id }) => id), rejected.map(({ name, error }) => [name, error.code])]).toEqual([
      ["a.shut"],
      [["lock", "TOOL_INVALID"]],
    ]);
    expect(() => arsenal.register(draft("bolt", "a"), () => 1)).toThrow("the policy allows no more than 2");
    await arsenal.addTool({ ...draft("open", "a"), description: "Opens it another way." });
    expect(arsenal.toolCount).toBe(2);
  });

  it("refuse a name that a tool of another namespace has, where they are not to be shared [002-security-duplicates]", async () => {
    await using strict = arsenalWith([{ allowDuplicateNames: false }]);
    await strict.addTool(draft("open", "a"));
    await expect(strict.addTool(draft("open", "b"))).rejects.toMatchObject({
      code: "TOOL_INVALID",
      message: expect.stringContaining("a.open has the same name"),
    });
    await using lax = arsenalWith(["allowDuplicateNames"]);
    await lax.addTool(draft("open", "a"));
    await lax.addTool(draft("open", "b"));
    expect(lax.toolCount).toBe(2);
  });
});
