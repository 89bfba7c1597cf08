import { describe, expect, it } from "vitest";
import { CAPABILITIES, createPrincipal, type ToolArsenal } from "../../src/index.ts";
import { ARSENALS, look } from "./opened.ts";

/** Registers one tool for each capability, one that needs a scope and one that needs nothing. Returns the names of the tools that ran. */
async function registerEach(arsenal: ToolArsenal): Promise<readonly string[]> {
  const ran: string[] = [];
  const drafts = [
    ...CAPABILITIES.map((capability) => ({ ...look, name: `use_${capability}`, capabilities: [capability] })),
    { ...look, name: "use_scope", requiredScopes: ["orders:read"] },
    { ...look, name: "use_nothing" },
  ];
  for (const draft of drafts) await arsenal.addTool(draft, () => ran.push(draft.name));
  return ran;
}

const guarded = [...CAPABILITIES.map((capability) => `use_${capability}`), "use_scope"];

describe.each(ARSENALS)("an arsenal, %s:", (_where, open) => {
  describe("an agent made by createPrincipal", () => {
    it("can call nothing that needs a capability or a scope, unless it was granted", async () => {
      await using opened = await open();
      const ran = await registerEach(opened.host);
      const agent = opened.as(createPrincipal({ id: "support-bot" }));
      for (const toolName of guarded)
        expect((await agent.execute({ toolName })).error).toMatchObject({
          code: "PERMISSION_DENIED",
          message: expect.stringMatching(/^"support-bot" lacks the (capability|scope) /),
        });
      const { results } = await agent.executeBatch({ calls: guarded.map((toolName) => ({ toolName })) });
      expect(results.map(({ status }) => status)).toEqual(guarded.map(() => "permission_denied"));
      expect(ran).toEqual([]);
      expect((await agent.execute({ toolName: "use_nothing" })).status).toBe("success");
    });

    it("can call what it was granted, and nothing else", async () => {
      await using opened = await open();
      const ran = await registerEach(opened.host);
      const agent = opened.as(
        createPrincipal({ id: "support-bot", capabilities: ["read_data"], scopes: ["orders:read"] }),
      );
      for (const toolName of guarded) await agent.execute({ toolName });
      expect(ran).toEqual(["use_read_data", "use_scope"]);
    });

    it("can approve nothing", async () => {
      await using opened = await open();
      const { host } = opened;
      await host.addTool({ ...look, requiresConfirmation: true });
      const waiting = await opened.as(createPrincipal({ id: "support-bot" })).execute({ toolName: "look_around" });
      expect(waiting.status).toBe("pending_confirmation");
      const other = createPrincipal({ id: "other-bot" });
      await expect(host.approvals.approve(waiting.confirmationId ?? "", other)).rejects.toMatchObject({
        code: "APPROVAL_INVALID",
      });
    });
  });
});
