import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tokenize } from "../../catalog/lexical/tokenize.ts";
import { createManualClock, type ManualClock } from "../../testing/manual-clock.ts";
import { createUsagePrior, type UsagePriorSettings } from "./usage-prior.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const REFUND = "refund the customer of an order";

interface Scene {
  readonly clock: ManualClock;
  readonly usage: ReturnType<typeof createUsagePrior>;
  /** Retrieves, then calls one of the tools. */
  use(query: string, toolId: string, more?: Partial<Use>): void;
  prior(query: string, toolId: string, tenant?: string): number;
}

interface Use {
  readonly tenant: string;
  readonly principal: string;
  readonly succeeded: boolean;
  readonly toolIds: readonly string[];
}

function scene(settings: Partial<UsagePriorSettings> = {}): Scene {
  const clock = createManualClock(1_000 * DAY);
  const usage = createUsagePrior({ clock, termsOf: tokenize, settings: { halfLifeDays: 14, ...settings } });
  return {
    clock,
    usage,
    use(query, toolId, { tenant = "a", principal = "ann", succeeded = true, toolIds = [toolId] } = {}) {
      usage.noteRetrieval({ tenant, principal, traceId: "t", query, toolIds });
      usage.noteCall({ tenant, principal, traceId: "t", toolId, succeeded });
    },
    prior: (query, toolId, tenant = "a") => usage.priors(tenant, query)(toolId),
  };
}

describe("the usage prior", () => {
  it("is neutral where nothing is known", () => {
    const { prior, use } = scene();
    expect(prior(REFUND, "process_refund")).toBe(0.5);
    use(REFUND, "process_refund");
    expect(prior(REFUND, "send_email")).toBe(0.5);
    expect(prior(REFUND, "process_refund", "other")).toBe(0.5);
    expect(prior("", "send_email")).toBe(0.5);
  });

  it("rises with each call that works and falls with each that fails", () => {
    const { prior, use } = scene();
    use(REFUND, "process_refund");
    expect(prior(REFUND, "process_refund")).toBeCloseTo(0.689, 3);
    const once = prior(REFUND, "process_refund");
    use(REFUND, "process_refund");
    expect(prior(REFUND, "process_refund")).toBeGreaterThan(once);
    use(REFUND, "send_email", { succeeded: false });
    expect(prior(REFUND, "send_email")).toBeCloseTo(1 - 0.689, 3);
  });

  it("carries over to a request with the same words in other forms, and hardly to an unrelated one", () => {
    const { prior, use } = scene();
    for (let count = 0; count < 4; count++) use(REFUND, "process_refund");
    expect(prior("refunding two customers", "process_refund")).toBeGreaterThan(0.75);
    expect(prior("order 66 wants refunds", "process_refund")).toBeGreaterThan(0.7);
    expect(prior("what is the weather in Paris", "process_refund")).toBeCloseTo(0.56, 2);
    expect(prior("email the customer a summary of all open support tickets", "process_refund")).toBeLessThan(0.65);
  });

  it("halves what it knows with each half-life", async () => {
    const { clock, prior, use } = scene({ halfLifeDays: 7 });
    const logit = (): number => {
      const known = prior("refunds", "process_refund");
      return Math.log(known / (1 - known));
    };
    use("refunds", "process_refund");
    expect(logit()).toBeCloseTo(1.15 * Math.log(2), 10);
    await clock.advance(7 * DAY);
    expect(logit()).toBeCloseTo(1.15 * Math.log(1.5), 10);
    await clock.advance(7 * DAY);
    expect(logit()).toBeCloseTo(1.15 * Math.log(1.25), 10);
    await clock.advance(700 * DAY);
    expect(prior("refunds", "process_refund")).toBeCloseTo(0.5, 10);
  });

  it("counts tools above the called one a little less, within bounds, and those below not at all", async () => {
    const { clock, prior, use } = scene();
    const toolIds = ["first", "second", "third"];
    use(REFUND, "second", { toolIds });
    expect(prior(REFUND, "first")).toBeCloseTo(0.476, 3);
    expect(prior(REFUND, "third")).toBe(0.5);
    for (let count = 0; count < 100; count++) {
      await clock.advance(DAY / 10);
      use(REFUND, "second", { toolIds });
    }
    expect(prior(REFUND, "first")).toBeGreaterThanOrEqual(0.4);
    expect(prior(REFUND, "first")).toBeLessThan(0.45);
  });

  it("counts no more than the five tools just above the called one as passed over", () => {
    const { prior, use } = scene();
    const toolIds = ["t0", "t1", "t2", "t3", "t4", "t5", "t6"];
    use(REFUND, "t6", { toolIds });
    expect(toolIds.map((toolId) => Math.sign(prior(REFUND, toolId) - 0.5))).toEqual([0, -1, -1, -1, -1, -1, 1]);
  });

  it("passes nothing over for a call that failed, nor for the second step of a task", () => {
    const { prior, usage, use } = scene();
    use(REFUND, "second", { toolIds: ["first", "second"], succeeded: false });
    expect(prior(REFUND, "first")).toBe(0.5);
    use("close the account", "look_up", { toolIds: ["look_up", "mail", "close"] });
    usage.noteCall({ tenant: "a", principal: "ann", traceId: "t", toolId: "close", succeeded: true });
    expect(prior("close the account", "close")).toBeGreaterThan(0.6);
    expect(prior("close the account", "mail")).toBe(0.5);
  });

  it("forgets a tool and nothing else", () => {
    const { prior, usage, use } = scene();
    use(REFUND, "process_refund");
    use(REFUND, "send_email");
    usage.forget("process_refund");
    expect(prior(REFUND, "process_refund")).toBe(0.5);
    expect(prior(REFUND, "send_email")).toBeGreaterThan(0.6);
  });
});

describe("a call counts", () => {
  const call = { tenant: "a", principal: "ann", toolId: "process_refund", succeeded: true };
  const retrieval = { tenant: "a", principal: "ann", traceId: "t1", query: REFUND, toolIds: ["process_refund"] };

  it("only after a retrieval of the same principal that returned the tool", () => {
    const { prior, usage } = scene();
    usage.noteCall({ ...call, traceId: "t1" });
    usage.noteRetrieval({ ...retrieval, toolIds: ["send_email"] });
    usage.noteRetrieval({ ...retrieval, principal: "bob" });
    usage.noteRetrieval({ ...retrieval, tenant: "b" });
    usage.noteCall({ ...call, traceId: "t1" });
    expect(prior(REFUND, "process_refund")).toBe(0.5);
  });

  it("within ten minutes of the latest retrieval, or at any time with its trace id", async () => {
    const { clock, prior, usage } = scene();
    usage.noteRetrieval(retrieval);
    await clock.advance(10 * MINUTE + 1);
    usage.noteCall({ ...call, traceId: "t2" });
    expect(prior(REFUND, "process_refund")).toBe(0.5);
    usage.noteCall({ ...call, traceId: "t1" });
    const once = prior(REFUND, "process_refund");
    expect(once).toBeGreaterThan(0.6);
    usage.noteRetrieval(retrieval);
    await clock.advance(10 * MINUTE);
    usage.noteCall({ ...call, traceId: "t2" });
    expect(prior(REFUND, "process_refund")).toBeGreaterThan(once);
  });

  it("for the retrieval of its trace, not for a later one", () => {
    const { prior, usage } = scene();
    usage.noteRetrieval(retrieval);
    usage.noteRetrieval({ ...retrieval, traceId: "t2", query: "book a flight", toolIds: ["book_flight"] });
    usage.noteCall({ ...call, traceId: "t1" });
    expect(prior(REFUND, "process_refund")).toBeGreaterThan(0.6);
    usage.noteCall({ ...call, traceId: "t1", toolId: "book_flight" });
    expect(prior("book a flight", "book_flight")).toBe(0.5);
  });

  it("not for a retrieval that came after it was made", async () => {
    const { clock, prior, usage } = scene();
    const at = clock.now();
    await clock.advance(MINUTE);
    usage.noteRetrieval(retrieval);
    usage.noteCall({ ...call, traceId: "t9", at });
    expect(prior(REFUND, "process_refund")).toBe(0.5);
  });
});

describe("a chatty principal", () => {
  it("moves the prior no further by a thousand calls than by four", async () => {
    const { clock, prior, use } = scene();
    for (let count = 0; count < 4; count++) use(REFUND, "process_refund");
    const most = prior(REFUND, "process_refund");
    for (let count = 0; count < 1_000; count++) {
      use(REFUND, "process_refund");
      await clock.advance(DAY / 20);
      expect(prior(REFUND, "process_refund")).toBeLessThanOrEqual(most);
    }
    expect(most).toBeCloseTo(0.864, 3);
  });

  it("is outweighed by three who say the opposite", () => {
    const { prior, use } = scene();
    for (let count = 0; count < 1_000; count++) use(REFUND, "process_refund", { principal: "bot", succeeded: false });
    expect(prior(REFUND, "process_refund")).toBeLessThan(0.2);
    for (const principal of ["ann", "bob", "eve"]) {
      for (let count = 0; count < 4; count++) use(REFUND, "process_refund", { principal });
    }
    expect(prior(REFUND, "process_refund")).toBeGreaterThan(0.7);
  });

  it("has ten calls of a tool counted a day, whatever it asks for", async () => {
    const { clock, prior, use } = scene();
    const words = Array.from({ length: 30 }, (_, index) => `${String.fromCodePoint(97 + index)}word`);
    const known = (): number => words.filter((word) => prior(word, "process_refund") > 0.6).length;
    for (const word of words.slice(0, 20)) use(word, "process_refund");
    expect(known()).toBe(10);
    await clock.advance(DAY);
    for (const word of words.slice(20, 25)) use(word, "process_refund");
    expect(known()).toBe(15);
  });

  it("does not crowd out what others taught", async () => {
    const { clock, prior, use } = scene({ maxPairs: 200 });
    use(REFUND, "process_refund");
    await clock.advance(7 * DAY);
    for (let count = 0; count < 500; count++)
      use(`flood${count} deluge${count}`, `tool_${count}`, { principal: "bot" });
    expect(prior(REFUND, "process_refund")).toBeGreaterThan(0.6);
  });
});

describe("what is kept", () => {
  const letter = (index: number): string => String.fromCodePoint(0x3b1 + index);
  const topic = (day: number, who: number): string => `topic${letter(day)}${letter(who)}`;

  it("is the most valuable if there is too much of it", async () => {
    const { clock, prior, use } = scene({ maxPairs: 100 });
    for (let day = 0; day < 40; day++) {
      for (let who = 0; who < 10; who++) use(topic(day, who), `tool_${who}`, { principal: `p${who}` });
      use(REFUND, "process_refund", { principal: "ann" });
      await clock.advance(DAY);
    }
    expect(prior(REFUND, "process_refund")).toBeGreaterThan(0.8);
    expect(prior(topic(0, 0), "tool_0")).toBeLessThan(0.6);
    expect(prior(topic(39, 0), "tool_0")).toBeGreaterThan(0.6);
  });

  it("is bounded in tenants: the one used longest ago makes room, and one that only searches takes no place", () => {
    const { prior, usage, use } = scene({ maxTenants: 2 });
    use(REFUND, "process_refund", { tenant: "a" });
    use(REFUND, "process_refund", { tenant: "b" });
    const searches = { principal: "ann", traceId: "t", query: REFUND, toolIds: ["process_refund"] };
    usage.noteRetrieval({ ...searches, tenant: "c" });
    usage.noteRetrieval({ ...searches, tenant: "a" });
    use(REFUND, "process_refund", { tenant: "d" });
    expect(["a", "b", "c", "d"].map((tenant) => prior(REFUND, "process_refund", tenant) > 0.6)).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe("tenants", () => {
  const event = fc.record({
    kind: fc.constantFrom("retrieval", "call", "wait"),
    principal: fc.constantFrom("ann", "bob"),
    traceId: fc.constantFrom("t1", "t2"),
    query: fc.constantFrom("refund an order", "order a pizza", "book a flight to Rome"),
    toolId: fc.constantFrom("one", "two", "three"),
    succeeded: fc.boolean(),
    hours: fc.integer({ min: 0, max: 60 }),
  });
  type Event = { readonly tenant: string } & (typeof event extends fc.Arbitrary<infer Value> ? Value : never);

  const toolIds = ["one", "two", "three"];
  function play(events: readonly Event[]): readonly number[] {
    let now = 0;
    const usage = createUsagePrior({
      clock: { now: () => now },
      termsOf: tokenize,
      settings: { halfLifeDays: 14, maxPairs: 20 },
    });
    for (const { kind, hours, query, toolId, succeeded, ...who } of events) {
      if (kind === "wait") now += hours * 60 * MINUTE;
      else if (kind === "retrieval") usage.noteRetrieval({ ...who, query, toolIds });
      else usage.noteCall({ ...who, toolId, succeeded });
    }
    return ["refund an order", "order a pizza", "book a flight to Rome", "hello"].flatMap((query) =>
      toolIds.map((toolId) => usage.priors("b", query)(toolId)),
    );
  }

  it("never move each other's priors, whatever happens in one of them", () => {
    const events = fc.array(
      fc.tuple(event, fc.constantFrom("a", "b")).map(([given, tenant]) => ({ ...given, tenant })),
      { minLength: 20, maxLength: 80 },
    );
    let informed = 0;
    fc.assert(
      fc.property(events, (given) => {
        // Time passes for both.
        const without = given.filter(({ tenant, kind }) => tenant === "b" || kind === "wait");
        const expected = play(without);
        informed += Number(expected.some((prior) => prior !== 0.5));
        expect(play(given)).toEqual(expected);
      }),
    );
    expect(informed).toBeGreaterThan(250);
  });

  it("keeps every prior within [0, 1]", () => {
    fc.assert(
      fc.property(fc.array(event.map((given) => ({ ...given, tenant: "b" }))), (events) => {
        for (const prior of play(events)) {
          expect(prior).toBeGreaterThanOrEqual(0);
          expect(prior).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
