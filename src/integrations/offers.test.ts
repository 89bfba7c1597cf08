import { describe, expect, it, onTestFinished } from "vitest";
import { syntheticTools } from "../cli/benchmark/synthetic-tools.ts";
import { ArsenalError, createPrincipal, type Principal, ToolArsenal } from "../index.ts";
import type { ConversationMessage } from "./conversation.ts";
import { createOffers, type IntegrationOptions } from "./offers.ts";

const agent = createPrincipal({ id: "agent" });
const dana = createPrincipal({ id: "dana", roles: ["approver"] });

interface Request {
  readonly user: string;
}

/** Offers over 100 tools and a few of a shop, whose refunds need an approval. */
function offersOf(options: IntegrationOptions<Request> = {}) {
  const arsenal = new ToolArsenal();
  onTestFinished(() => arsenal.close());
  const refunds: string[] = [];
  const callers: string[] = [];
  const shop = (name: string, description: string) => ({ name, namespace: "shop", description }) as const;
  arsenal.register(shop("find_order", "Looks up an order by its number"), (_args, { caller }) => {
    callers.push(caller?.id ?? "");
    return { city: "Porto" };
  });
  arsenal.register(shop("refund_order", "Refunds the money of an order"), () => {
    refunds.push("refund");
    return "refunded";
  });
  arsenal.register(shop("long_report", "Writes a long report"), () => "x".repeat(5_000));
  arsenal.register(shop("lost_payment", "Pays a bill"), () => {
    throw new ArsenalError("OUTCOME_UNKNOWN", "The bank did not answer.");
  });
  for (const tool of syntheticTools(100)) void arsenal.addTool(tool);
  const offers = createOffers<Request>(arsenal, { principal: agent, limit: 5, ...options });
  const context: Request = { user: "robin" };
  const forTurn = (...conversation: readonly ConversationMessage[]) => offers.forTurn({ conversation, context });
  const named = async (name: string) => {
    const tool = await offers.named(name, context);
    if (tool === undefined) throw new Error(`There is no ${name}.`);
    return tool;
  };
  return { arsenal, refunds, callers, forTurn, named };
}

const asks = (text: string): ConversationMessage => ({ role: "user", text });
const namesOf = (tools: readonly { readonly name: string }[]): string[] => tools.map(({ name }) => name);

describe("the tools of a turn", () => {
  it("are at most the limit, for the request, with find_tools as one of them", async () => {
    const { forTurn } = offersOf();
    expect(namesOf(await forTurn(asks("Look up order 7")))).toContain("shop-find_order");
    const tools = namesOf(await forTurn(asks("Create, list and export an invoice and a customer")));
    expect(tools).toHaveLength(5);
    expect(tools.at(-1)).toBe("find_tools");
    const none = offersOf({ findTools: false });
    expect(namesOf(await none.forTurn(asks("Look up order 7")))).not.toContain("find_tools");
  });

  it("include those that find_tools found, and the tool of a call that has no result yet", async () => {
    const { forTurn, named } = offersOf({ limit: 3 });
    const found = await (await named("find_tools")).run({ query: "refund the money" });
    expect(found).toMatchObject({ kind: "ok" });
    expect(found.text).toContain("shop-refund_order");
    const searched: readonly ConversationMessage[] = [
      asks("Restore the firewall rule"),
      { role: "assistant", text: "", calls: [{ id: "1", name: "find_tools" }] },
      { role: "tool", callId: "1", name: "find_tools", value: found.text },
    ];
    expect(namesOf(await forTurn(asks("Restore the firewall rule")))).not.toContain("shop-refund_order");
    expect(namesOf(await forTurn(...searched))).toContain("shop-refund_order");
    const open: ConversationMessage = { role: "assistant", text: "", calls: [{ id: "2", name: "shop-long_report" }] };
    expect(namesOf(await forTurn(asks("Restore the firewall rule"), open))).toContain("shop-long_report");
  });

  it("are those of the caller that the framework's request names", async () => {
    const principal = ({ user }: Request): Principal => createPrincipal({ id: user });
    const { callers, named } = offersOf({ principal });
    await (await named("shop-find_order")).run({});
    expect(callers).toEqual(["robin"]);
  });

  it("need a principal, and options that can be used", () => {
    const arsenal = new ToolArsenal();
    const wrong = (options: IntegrationOptions): unknown => {
      try {
        return createOffers(arsenal, options);
      } catch (error) {
        return error;
      }
    };
    expect(wrong({})).toMatchObject({ code: "INPUT_INVALID", details: { field: "principal" } });
    expect(wrong({ principal: agent, limit: 51 })).toMatchObject({ details: { field: "limit", value: 51 } });
    expect(wrong({ principal: agent, limit: 1, pinned: ["a", "b"] })).toMatchObject({ details: { field: "pinned" } });
    expect(() => createOffers({ remote: true } as never, {})).toThrow(/is not an arsenal/);
  });
});

describe("the outcome of a call", () => {
  it("is the result, cut to the length that the integration allows", async () => {
    const { named } = offersOf({ maxResultLength: 100 });
    expect(await (await named("shop-find_order")).run({})).toMatchObject({ kind: "ok", value: { city: "Porto" } });
    const { text } = await (await named("shop-long_report")).run({});
    expect(text).toMatch(/^x{100}\n\[The first 100 of 5000 characters\./);
  });

  it("says that it is unknown, denied or cancelled, for the framework to say so", async () => {
    const { named } = offersOf();
    expect(await (await named("shop-lost_payment")).run({})).toMatchObject({
      kind: "unknown",
      code: "OUTCOME_UNKNOWN",
    });
    const stopped = await (await named("shop-find_order")).run({}, { signal: AbortSignal.abort() });
    expect(stopped).toMatchObject({ kind: "cancelled", code: "CANCELLED" });
    expect(await (await named("find_tools")).run({})).toMatchObject({ kind: "error", code: "ARGUMENTS_INVALID" });
  });
});

describe("a call that needs an approval", () => {
  it("waits, however often it is made, until the approver's yes: then it runs once", async () => {
    const { named, refunds } = offersOf({ approver: dana });
    const refund = await named("shop-refund_order");
    expect(await refund.needsApproval({})).toBe(true);
    expect(await (await named("shop-find_order")).needsApproval({})).toBe(false);
    const first = await refund.run({});
    expect(first).toMatchObject({ kind: "waiting" });
    expect(await refund.run({})).toEqual({ ...first, text: expect.any(String) as string });
    expect(refunds).toEqual([]);
    expect(await refund.run({}, { answer: "approve" })).toMatchObject({ kind: "ok", value: "refunded" });
    expect(refunds).toEqual(["refund"]);
    expect(await refund.run({})).toMatchObject({ kind: "waiting" });
  });

  it("still waits after a yes without an approver, or with one who may not approve", async () => {
    const { named, refunds } = offersOf();
    expect(await (await named("shop-refund_order")).run({}, { answer: "approve" })).toMatchObject({ kind: "waiting" });
    const own = offersOf({ approver: { ...agent, roles: ["approver"] } });
    const outcome = await (await own.named("shop-refund_order")).run({}, { answer: "approve" });
    expect(outcome).toMatchObject({ kind: "denied", code: "APPROVAL_INVALID" });
    expect([...refunds, ...own.refunds]).toEqual([]);
  });

  it("is withdrawn by a no, with or without an approver", async () => {
    for (const options of [{}, { approver: dana }]) {
      const { arsenal, named, refunds } = offersOf(options);
      const refund = await named("shop-refund_order");
      await refund.run({});
      expect(await arsenal.approvals.count()).toBe(1);
      expect(await refund.run({}, { answer: "deny" })).toMatchObject({ kind: "denied" });
      expect(await arsenal.approvals.count()).toBe(0);
      expect(refunds).toEqual([]);
    }
  });
});
