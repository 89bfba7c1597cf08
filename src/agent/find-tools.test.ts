import { describe, expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import { syntheticTools } from "../cli/benchmark/synthetic-tools.ts";
import { createPrincipal } from "../guard/principal.ts";
import { CAPABILITIES } from "../tool/tool.ts";
import { say, scriptedLlm, type ScriptedLlm } from "../testing/scripted-llm.ts";
import { createAgent } from "./create-agent.ts";

const principal = createPrincipal({ id: "agent", capabilities: CAPABILITIES.filter((each) => each !== "delete_data") });
const parameters = { type: "object", properties: { text: { type: "string" } } } as const;
const LONG_NAMESPACE = "a-very-long-namespace-of-a-server-that-somebody-configured-once";

/** Three hundred tools, of which a few have to do with stamps. */
async function office(): Promise<{ readonly arsenal: ToolArsenal; readonly ran: string[] }> {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" } });
  onTestFinished(() => arsenal.close());
  const ran: string[] = [];
  const add = (name: string, description: string, more: object = {}): void => {
    arsenal.register({ name, description, parameters, ...more }, () => ran.push(name));
  };
  add("frank_letter", "Prints a postage stamp on a letter.", { namespace: "post" });
  add("weigh_letter", "Weighs a letter, so that the postage is known.", { namespace: LONG_NAMESPACE });
  add("burn_stamps", "Burns postage stamps.", { namespace: "post", capabilities: ["delete_data"] });
  await arsenal.add(syntheticTools(297).map((tool) => ({ tool })));
  return { arsenal, ran };
}

const offered = ({ requests }: ScriptedLlm, turn: number): readonly string[] =>
  requests[turn]?.tools.map(({ id }) => id) ?? [];

const lastResult = ({ requests }: ScriptedLlm, turn: number): unknown => {
  const message = requests[turn]?.messages.at(-1);
  return message?.role === "tool" ? message.results[0]?.result : undefined;
};

describe("find_tools", () => {
  it("lets the model search again, and what it finds can be called in the next turn", async () => {
    const { arsenal, ran } = await office();
    const llm = scriptedLlm([
      say("", ["find_tools", { query: "print a postage stamp" }]),
      say("", ["post-frank_letter", { text: "Dear Omar" }]),
      "Done.",
    ]);
    const events: unknown[] = [];
    const agent = createAgent({ llm, arsenal, principal, limit: 6 });
    await agent.run("Create a ticket for Omar", { onEvent: (event) => events.push(event) }).result;

    expect(offered(llm, 0)).not.toContain("post.frank_letter");
    expect(offered(llm, 0).at(-1)).toBe("default.find_tools");
    expect(lastResult(llm, 1)).toMatchObject({
      toolName: "find_tools",
      status: "success",
      result: {
        match: "good",
        tools: expect.arrayContaining([
          { name: "post-frank_letter", description: "Prints a postage stamp on a letter." },
        ]) as object,
      },
    });
    expect(offered(llm, 1)).toContain("post.frank_letter");
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "tools-offered",
        step: 2,
        tools: expect.arrayContaining([{ id: "post.frank_letter", because: "found" }]) as object,
      }),
    );
    expect(ran).toEqual(["frank_letter"]);
    expect(llm.requests.map(({ tools }) => tools.length)).toEqual([6, 6, 6]);
  });

  it("finds tools whose id cannot be read from the name that the model sees", async () => {
    const { arsenal } = await office();
    const llm = scriptedLlm([say("", ["find_tools", { query: "weigh a letter for its postage" }]), "Done."]);
    await createAgent({ llm, arsenal, principal, limit: 6 }).execute("Create a ticket for Omar");
    expect(offered(llm, 1)).toContain(`${LONG_NAMESPACE}.weigh_letter`);
  });

  it("shares the places between the searches of one turn", async () => {
    const { arsenal } = await office();
    const searches = ["print a postage stamp", "weigh a letter"].map((query) => ["find_tools", { query }] as const);
    const llm = scriptedLlm([say("", ...searches), "Done."]);
    await createAgent({ llm, arsenal, principal, limit: 3 }).execute("Create a ticket for Omar");
    expect(offered(llm, 1)).toEqual(["post.frank_letter", `${LONG_NAMESPACE}.weigh_letter`, "default.find_tools"]);
  });

  it("shows the model nothing that its principal may not call", async () => {
    const { arsenal } = await office();
    const llm = scriptedLlm([say("", ["find_tools", { query: "burn postage stamps" }]), "Done."]);
    await createAgent({ llm, arsenal, principal }).execute("Create a ticket for Omar");
    expect(JSON.stringify(lastResult(llm, 1))).not.toContain("burn_stamps");
    expect(offered(llm, 1)).not.toContain("post.burn_stamps");
  });

  it("keeps what it found on offer for the rest of the request, and not for the next one", async () => {
    const { arsenal } = await office();
    const llm = scriptedLlm([
      say("", ["find_tools", { query: "print a postage stamp" }]),
      say("", ["find_tools", { query: "translate a text" }]),
      "Done.",
      "Done.",
    ]);
    const agent = createAgent({ llm, arsenal, principal, limit: 12 });
    const { messages } = await agent.run("Create a ticket for Omar").result;
    expect(offered(llm, 2)).toContain("post.frank_letter");
    await agent.run("Create a ticket for Dana", { history: messages }).result;
    expect(offered(llm, 3)).not.toContain("post.frank_letter");
  });

  it("answers a search without words with what to write, and one that nothing fits with the next step", async () => {
    const { arsenal } = await office();
    const llm = scriptedLlm([
      say("", ["find_tools", { words: "stamps" }]),
      say("", ["find_tools", { query: "zzz qqq xxx" }]),
      "I cannot.",
    ]);
    await createAgent({ llm, arsenal, principal }).execute("Create a ticket for Omar");
    expect(lastResult(llm, 1)).toMatchObject({
      status: "failure",
      error: { code: "ARGUMENTS_INVALID", message: expect.stringContaining("query is undefined") as string },
    });
    expect(lastResult(llm, 2)).toMatchObject({
      result: { hint: expect.stringContaining("earch again in other words") as string },
    });
  });

  it("leaves all places to the catalog if there are few, and can be switched off", async () => {
    const { arsenal } = await office();
    const llm = scriptedLlm(["Done.", say("", ["find_tools", { query: "stamps" }]), "Done."]);
    await createAgent({ llm, arsenal, principal, limit: 2 }).execute("Create a ticket for Omar");
    await createAgent({ llm, arsenal, principal, findTools: false }).execute("Create a ticket for Omar");
    expect([...offered(llm, 0), ...offered(llm, 1)]).not.toContain("default.find_tools");
    expect(lastResult(llm, 2)).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
  });

  it("gives way to a tool of the catalog with its name", async () => {
    const { arsenal, ran } = await office();
    arsenal.register({ name: "find_tools", description: "Finds hammers and saws.", parameters }, () =>
      ran.push("hammers"),
    );
    const llm = scriptedLlm([say("", ["find_tools", { text: "saw" }]), "Done."]);
    await createAgent({ llm, arsenal, principal }).execute("Find hammers and saws");
    expect(offered(llm, 0).filter((id) => id === "default.find_tools")).toHaveLength(1);
    expect(ran).toEqual(["hammers"]);
  });
});
