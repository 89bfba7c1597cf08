import { describe, expect, it } from "vitest";
import { localOperator, type Principal, ToolArsenal } from "../../src/index.ts";
import { toAlias } from "../../src/adapters/dialects/index.ts";
import type { Policy } from "../../src/adapters/policies/index.ts";

const quiet = { telemetry: { enabled: false } } as const;

const guest: Principal = localOperator({ id: "guest", roles: [], local: false });

/** Guests see nothing in the namespace `secret`. */
const policy: Policy = {
  sees: (tool, principal) => principal.id !== "guest" || tool.namespace !== "secret",
  decide: () => ({ effect: "allow" }),
};

function arsenalWith(ids: readonly string[]): ToolArsenal {
  const arsenal = new ToolArsenal({ ...quiet, policy });
  for (const id of ids) {
    const [namespace = "", name = ""] = id.split(".");
    const definition = { name, namespace, description: `Does ${name} for somebody.` };
    arsenal.register({ ...definition, parameters: { type: "object", properties: {} } }, () => id);
  }
  return arsenal;
}

/** What a guest is told, without what differs from call to call. */
async function answerTo(arsenal: ToolArsenal, toolName: string): Promise<unknown> {
  const { status, error, toolId, result } = await arsenal.execute({ toolName, principal: guest });
  return { status, error, toolId, result };
}

const SHOWN = ["mail.send", "mail.read"];

describe("a tool the caller may not see", () => {
  it.each([
    "secret.send_money",
    "send_money",
    "secret.send_money:1.0.0",
    "secret.send_money:9.9.9",
    toAlias("secret.send_money"),
    "secret.send",
    "send",
    "secret.send_moneys",
    "sent",
  ])("answers a call of %s as if it had never been registered [000-6.2-unseen]", async (name) => {
    await using hiding = arsenalWith([...SHOWN, "secret.send_money", "secret.send"]);
    await using without = arsenalWith(SHOWN);
    expect(await answerTo(hiding, name)).toEqual(await answerTo(without, name));
  });

  it("is not suggested, where one that can be seen is", async () => {
    await using arsenal = arsenalWith([...SHOWN, "secret.send_money", "bank.send_many"]);
    const messageFor = async (toolName: string, principal: Principal): Promise<string | undefined> =>
      (await arsenal.execute({ toolName, principal })).error?.message;
    expect(await messageFor("send_monei", guest)).toBe(
      'No tool "send_monei" is registered. Did you mean "bank.send_many"?',
    );
    expect(await messageFor("send_monei", localOperator())).toBe(
      'No tool "send_monei" is registered. Did you mean "secret.send_money"?',
    );
  });

  it("does not make a bare name ambiguous", async () => {
    await using arsenal = arsenalWith([...SHOWN, "secret.send"]);
    expect(await answerTo(arsenal, "send")).toMatchObject({ status: "success", result: "mail.send" });
    const { error } = await arsenal.execute({ toolName: "send" });
    expect(error).toMatchObject({
      code: "TOOL_NOT_FOUND",
      message: '"send" is the name of 2 tools. Call it by its id: "mail.send", "secret.send".',
    });
  });

  it("is neither got, listed nor deleted on behalf of the caller", async () => {
    await using arsenal = arsenalWith([...SHOWN, "secret.send"]);
    const by = { principal: guest };
    expect(await arsenal.getTool("send", "secret", by)).toBeUndefined();
    expect((await arsenal.getTool("send", "mail", by))?.id).toBe("mail.send");
    expect((await arsenal.listTools(by)).map(({ id }) => id)).toEqual(["mail.read", "mail.send"]);
    expect(await arsenal.deleteTool("send", "secret", by)).toBe(false);
    expect((await arsenal.getTool("send", "secret"))?.id).toBe("secret.send");
    // The program registered it with its handler.
    await expect(arsenal.deleteTool("send", "mail", by)).rejects.toMatchObject({ code: "TOOL_OWNED" });
    expect(await arsenal.deleteTool("send", "secret")).toBe(true);
    expect(arsenal.toolCount).toBe(2);
  });

  it("is not shown to what is no principal, which must not pass for the operator", async () => {
    await using arsenal = arsenalWith(["secret.send"]);
    for (const nobody of [null, {}, "guest"]) {
      const by = { principal: nobody as unknown as Principal };
      const refused = { code: "QUERY_INVALID", details: { field: "principal" } };
      await expect(arsenal.getTool("send", "secret", by)).rejects.toMatchObject(refused);
      await expect(arsenal.listTools(by)).rejects.toMatchObject(refused);
      await expect(arsenal.deleteTool("send", "secret", by)).rejects.toMatchObject(refused);
      await expect(arsenal.retrieve({ context: { query: "send" }, ...by })).rejects.toMatchObject(refused);
    }
    expect(arsenal.toolCount).toBe(1);
  });

  it("does not keep a batch from running its read-only namesakes at once", async () => {
    let running = 0;
    let most = 0;
    await using arsenal = new ToolArsenal({ ...quiet, policy });
    for (const namespace of ["secret", "mail"]) {
      await arsenal.addTool(
        {
          name: "send",
          namespace,
          description: "Sends something to somebody.",
          parameters: { type: "object", properties: {} },
          annotations: { readOnly: namespace === "mail" },
        },
        async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
        },
      );
    }
    const call = { toolName: "send", principal: guest };
    const { successfulCount } = await arsenal.executeBatch({ calls: [call, call, call] });
    expect([successfulCount, most]).toEqual([3, 3]);
  });
});
