import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { createPrincipal, localOperator } from "../guard/principal.ts";
import { say, scriptedLlm } from "../testing/scripted-llm.ts";
import { createAgent } from "./create-agent.ts";
import type { SavedRun } from "./saved-run.ts";

const principal = createPrincipal({ id: "agent" });
const dana = localOperator({ id: "dana" });
const order = { type: "object", properties: { order: { type: "string" } }, required: ["order"] } as const;

function shop(): { readonly arsenal: ToolArsenal; readonly ran: string[] } {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" } });
  const ran: string[] = [];
  for (const name of ["find_order", "refund_order"])
    arsenal.register({ name, description: `Will ${name} for a customer.`, parameters: order }, (args) => {
      ran.push(`${name} ${args.order}`);
      return `${name} done`;
    });
  return { arsenal, ran };
}

/** What became of a run after JSON. */
const reread = (saved: SavedRun): SavedRun => JSON.parse(JSON.stringify(saved)) as SavedRun;

const FIND_AND_REFUND = say("", ["find_order", { order: "7" }], ["refund_order", { order: "7" }]);

describe("a run whose call needs approval", () => {
  it("pauses, and runs the approved call once when it is resumed, and no other again", async () => {
    const { arsenal, ran } = shop();
    const llm = scriptedLlm([FIND_AND_REFUND, say("Refunded.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const run = agent.run("Refund order 7");
    const paused = await run.result;
    expect(paused).toMatchObject({ status: "paused", steps: 1, text: "" });
    expect(paused.approvals).toMatchObject([{ toolName: "refund_order", arguments: { order: "7" } }]);

    const still = agent.resume(reread(run.save()));
    const confirmationId = paused.approvals[0]?.confirmationId ?? "";
    expect(await still.result).toMatchObject({ status: "paused", approvals: [{ confirmationId }], steps: 1 });
    expect(ran).toEqual(["find_order 7"]);

    await arsenal.approvals.approve(confirmationId, dana);
    const done = await agent.resume(reread(still.save())).result;
    expect(done).toMatchObject({ status: "answered", text: "Refunded.", steps: 2, traceId: paused.traceId });
    expect(ran).toEqual(["find_order 7", "refund_order 7"]);
    expect(done.messages[2]).toMatchObject({
      role: "tool",
      results: [{ result: { result: "find_order done" } }, { result: { result: "refund_order done" } }],
    });
  });

  it("keeps its toolset when an agent without one resumes it, and is refused to an agent with another", async () => {
    const { arsenal, ran } = shop();
    for (const name of ["refunds", "orders"]) {
      const filter = { ids: name === "refunds" ? ["default.refund_order"] : ["default.find_order"] };
      arsenal.toolsets.add({ name, description: "", tags: [], filter, view: "live", policy: {} });
    }
    const llm = scriptedLlm([say("", ["refund_order", { order: "7" }]), FIND_AND_REFUND, say("Done.")]);
    const run = createAgent({ llm, arsenal, principal, toolset: "refunds" }).run("Refund order 7");
    const { approvals } = await run.result;
    await arsenal.approvals.approve(approvals[0]?.confirmationId ?? "", dana);

    expect(() => createAgent({ llm, arsenal, principal, toolset: "orders" }).resume(run.save())).toThrow(
      expect.objectContaining({
        code: "INPUT_INVALID",
        details: expect.objectContaining({ field: "toolset" }) as object,
      }),
    );
    await createAgent({ llm, arsenal, principal }).resume(reread(run.save())).result;
    expect(ran).toEqual(["refund_order 7"]);
    expect(llm.requests.flatMap(({ tools }) => tools.map(({ name }) => name))).not.toContain("find_order");
  });

  it("reports a denied call to the model", async () => {
    const { arsenal, ran } = shop();
    const llm = scriptedLlm([FIND_AND_REFUND, say("I may not.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const run = agent.run("Refund order 7");
    const { approvals } = await run.result;
    await arsenal.approvals.deny(approvals[0]?.confirmationId ?? "", dana);
    const done = await agent.resume(run.save()).result;
    expect(done.text).toBe("I may not.");
    expect(done.messages[2]).toMatchObject({ results: [{}, { result: { status: "permission_denied" } }] });
    expect(ran).toEqual(["find_order 7"]);
  });

  it("does not run an approved call twice when the same save is resumed twice", async () => {
    const { arsenal, ran } = shop();
    const llm = scriptedLlm([FIND_AND_REFUND, say("Refunded."), say("Refunded before.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const run = agent.run("Refund order 7");
    const { approvals } = await run.result;
    const saved = run.save();
    await arsenal.approvals.approve(approvals[0]?.confirmationId ?? "", dana);
    await agent.resume(saved).result;
    const second = await agent.resume(saved).result;
    expect(ran).toEqual(["find_order 7", "refund_order 7"]);
    expect(second.messages[2]).toMatchObject({ results: [{}, { result: { error: { code: "APPROVAL_INVALID" } } }] });
  });

  it("tells the model if the approval is given elsewhere, and does not pause", async () => {
    await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
    arsenal.register({ name: "pay", description: "Pays a bill." }, () => {
      throw new ArsenalError("CONFIRMATION_REQUIRED", "Approve it at the bank.", { answered: true });
    });
    const llm = scriptedLlm([say("", ["pay", {}]), say("The bank must approve it.")]);
    const { status, text } = await createAgent({ arsenal, llm, principal }).run("Pay the bill.").result;
    expect([status, text]).toEqual(["answered", "The bank must approve it."]);
    expect(JSON.stringify(llm.requests.at(-1)?.messages)).toContain("Approve it at the bank.");
  });

  it("lets the conversation go on without the approval", async () => {
    const { arsenal } = shop();
    const llm = scriptedLlm([FIND_AND_REFUND, say("It waits for approval.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const { messages } = await agent.run("Refund order 7").result;
    expect((await agent.run("And now?", { history: messages }).result).text).toBe("It waits for approval.");
    expect(llm.requests[1]?.messages[2]).toMatchObject({
      results: [{ result: { status: "success" } }, { result: { status: "pending_confirmation" } }],
    });
    await expect(
      createAgent({ llm: scriptedLlm([FIND_AND_REFUND]), arsenal, principal }).execute("Refund order 7"),
    ).rejects.toMatchObject({ code: "CONFIRMATION_REQUIRED" });
  });
});

describe("a run that is aborted", () => {
  it("cancels the call under way and reports it as cancelled when it is resumed", async () => {
    const { arsenal, ran } = shop();
    const stop = new AbortController();
    let told: AbortSignal | undefined;
    arsenal.register({ name: "wait_long", description: "Waits long for a customer." }, (_args, { signal }) => {
      told = signal;
      stop.abort();
      return new Promise(() => {});
    });
    const llm = scriptedLlm([say("", ["wait_long", {}], ["find_order", { order: "7" }]), say("I stopped.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const run = agent.run("Wait long", { signal: stop.signal });
    const aborted = await run.result;
    expect(told?.aborted).toBe(true);
    expect(aborted.status).toBe("aborted");

    const done = await agent.resume(reread(run.save())).result;
    expect(done).toMatchObject({ status: "answered", text: "I stopped." });
    expect(done.messages[2]).toMatchObject({ results: [{ result: { status: "cancelled" } }, {}] });
    expect(ran.length).toBeLessThanOrEqual(1);
  });

  it("ends before the model is asked again, and goes on when it is resumed", async () => {
    const { arsenal } = shop();
    const stop = new AbortController();
    stop.abort();
    const llm = scriptedLlm([say("Hello.")]);
    const agent = createAgent({ llm, arsenal, principal });
    const run = agent.run("Hello", { signal: stop.signal });
    expect((await run.result).status).toBe("aborted");
    expect(llm.requests).toEqual([]);
    expect((await agent.resume(run.save()).result).text).toBe("Hello.");
  });
});

describe("a saved run", () => {
  it("says of calls that were under way that nobody knows how they ended, and does not repeat them", async () => {
    const { arsenal } = shop();
    let calls = 0;
    let saved: SavedRun | undefined;
    const release = Promise.withResolvers<string>();
    arsenal.register({ name: "pay_bill", description: "Pays a bill of a customer." }, () => {
      calls++;
      return release.promise;
    });
    const agent = createAgent({
      llm: scriptedLlm([say("", ["pay_bill", {}]), say("Paid."), say("Unsure.")]),
      arsenal,
      principal,
    });
    const run = agent.run("Pay the bill", {
      onEvent: ({ type }) => {
        if (type === "call-started") saved = reread(run.save());
      },
    });
    for await (const { type } of run) if (type === "call-started") release.resolve("paid");
    const resumed = await agent.resume(saved as SavedRun).result;
    expect(resumed.messages[2]).toMatchObject({ results: [{ result: { error: { code: "OUTCOME_UNKNOWN" } } }] });
    expect(calls).toBe(1);
  });

  it("holds results that are not JSON as JSON", async () => {
    const { arsenal } = shop();
    arsenal.register({ name: "count_stars", description: "Counts the stars." }, () => ({ stars: 10n, by: () => 1 }));
    const agent = createAgent({ llm: scriptedLlm([say("", ["count_stars", {}]), say("Ten.")]), arsenal, principal });
    const run = agent.run("Count the stars");
    await run.result;
    const saved = run.save();
    expect(reread(saved)).toEqual(saved);
    expect(saved.messages[2]).toMatchObject({ results: [{ result: { result: { stars: "10" } } }] });
  });

  it.each([
    ["text", "{", "is not a saved run"],
    ["something else", { type: "x" }, "is not a saved run"],
    ["a newer version", { version: 2 }, "newer than 1. Resume it with the version that saved it"],
    ["no version", { version: undefined }, "version undefined must be 1"],
    ["a broken message", { messages: [{ role: "user" }] }, "messages"],
    ["a broken call", { open: { format: "native", calls: [{ read: { id: 1 } }] } }, "open"],
    ["a foreign trace", { traceId: "x" }, "traceId"],
    ["an answer", { status: "answered" }, "Start a new run, with its messages as history"],
  ])("that is %s cannot be resumed, and the error says why", async (_what, change, problem) => {
    const { arsenal } = shop();
    const agent = createAgent({ llm: scriptedLlm([]), arsenal, principal });
    const run = agent.run("Hello", { signal: AbortSignal.abort() });
    await run.result;
    const broken = typeof change === "string" ? change : { ...run.save(), ...change };
    expect(() => agent.resume(broken as SavedRun)).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining(problem) as string }),
    );
  });
});
