import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPrincipal, ToolArsenal } from "../../src/index.ts";
import { frameworksInstalled } from "./frameworks.ts";

const isInstalled = frameworksInstalled();
const principal = createPrincipal({ id: "agent", capabilities: ["read_data"] });
const dana = createPrincipal({ id: "dana", roles: ["approver"] });
const asked = { signal: new AbortController().signal, toolUseID: "toolu_1", requestId: "1" };

// because the frameworks are large, and only test/frameworks has them
describe.skipIf(!isInstalled)("canUseTool of the Claude Agent SDK asks Aegis", async () => {
  if (!isInstalled) return;
  const { arsenalOptions } = await import("../../src/integrations/claude-agent.ts");
  const arsenal = new ToolArsenal();
  let deleted = 0;
  beforeAll(() => {
    const described = { namespace: "notes", description: "Does something with a note." };
    arsenal.register({ ...described, name: "read_note" }, () => "text");
    arsenal.register({ ...described, name: "delete_note" }, () => (deleted += 1));
    arsenal.register({ ...described, name: "pay_note", capabilities: ["financial"] }, () => "paid");
  });
  afterAll(() => arsenal.close());

  const NOTE = "mcp__arsenal__notes-";

  it("allows what the policy allows", async () => {
    const { canUseTool } = arsenalOptions(arsenal, { principal });
    expect(await canUseTool(`${NOTE}read_note`, { id: 1 }, asked)).toEqual({
      behavior: "allow",
      updatedInput: { id: 1 },
    });
  });

  it("denies a tool that the caller may not see or call as if there were none", async () => {
    const { canUseTool } = arsenalOptions(arsenal, { principal });
    const message = "There is no tool notes-pay_note.";
    expect(await canUseTool(`${NOTE}pay_note`, {}, asked)).toEqual({ behavior: "deny", message });
  });

  it("denies tools that are not of the arsenal, unless the given canUseTool allows them", async () => {
    const alone = arsenalOptions(arsenal, { principal });
    expect(await alone.canUseTool("Bash", {}, asked)).toMatchObject({ behavior: "deny" });
    expect(await alone.canUseTool("mcp__other__read_note", {}, asked)).toMatchObject({ behavior: "deny" });
    const beside = arsenalOptions(arsenal, { principal, canUseTool: async () => ({ behavior: "allow" }) });
    expect(await beside.canUseTool("Bash", {}, asked)).toEqual({ behavior: "allow" });
  });

  it("asks the person with onApproval, and runs nothing itself", async () => {
    const requests: object[] = [];
    const { canUseTool } = arsenalOptions(arsenal, {
      principal,
      approver: dana,
      onApproval: async (request) => requests.push(request) > 0,
    });
    expect(await canUseTool(`${NOTE}delete_note`, { id: 7 }, asked)).toMatchObject({ behavior: "allow" });
    const confirmationId = expect.any(String) as unknown;
    const message = expect.stringContaining("A person must approve notes.delete_note") as unknown;
    expect(requests).toEqual([{ confirmationId, toolName: "notes-delete_note", arguments: { id: 7 }, message }]);
    expect(deleted).toBe(0);
  });

  it("denies a call that waits, with the way to approve it, if nobody can be asked", async () => {
    const { canUseTool } = arsenalOptions(arsenal, { principal });
    expect(await canUseTool(`${NOTE}delete_note`, { id: 8 }, asked)).toMatchObject({
      behavior: "deny",
      message: expect.stringContaining("make exactly the same call again") as unknown,
    });
    expect(deleted).toBe(0);
  });
});
