import { describe, expect, it } from "vitest";
import { memoryAudit } from "../../adapters/audit/memory.ts";
import { createRedaction } from "../../adapters/policies/rules/redaction.ts";
import { ToolArsenal } from "../../arsenal.ts";
import type { ToolArsenalConfig } from "../../config/config.ts";
import type { ToolArsenalParts } from "../../wire/parts.ts";
import { localOperator } from "../../guard/principal.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import type { Handler } from "../../tool/handler.ts";

type CacheSettings = NonNullable<NonNullable<ToolArsenalConfig["execution"]>["resultCache"]>;

const READ_ONLY = { readOnly: true };

/** An arsenal whose read-only `weather.forecast` counts how often it runs. */
function forecasts(
  resultCache: CacheSettings | undefined,
  { handler, ...parts }: ToolArsenalParts & { readonly handler?: Handler } = {},
) {
  const clock = createManualClock(1_000);
  const log = memoryAudit({ clock });
  const arsenal = new ToolArsenal({
    embedder: { tier: "lexical" },
    execution: { ...(resultCache && { resultCache }), maxRetries: 1 },
    clock,
    audit: log,
    ...parts,
  });
  let runs = 0;
  const register = (name: string, annotations: object): void => {
    const definition = { name, namespace: "weather", description: `Handles the ${name} of a city.`, annotations };
    arsenal.register(definition, (args, context) => (runs++, (handler ?? (() => ({ run: runs })))(args, context)));
  };
  register("forecast", READ_ONLY);
  register("report", {});
  register("guess", { readOnly: true, confirmed: false });
  return {
    arsenal,
    clock,
    runs: () => runs,
    records: () => log.lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "call"),
    forecast: (city: string, more: object = {}) =>
      arsenal.execute({ toolName: "weather.forecast", arguments: { city }, ...more }),
  };
}

describe("the result cache", () => {
  it("is off unless it is configured", async () => {
    const { arsenal, forecast } = forecasts(undefined);
    await using _ = arsenal;
    await forecast("Oslo");
    expect(await forecast("Oslo")).toMatchObject({ result: { run: 2 }, attempts: 1 });
  });

  it("answers a repeated call of a read-only tool without running it, and says so in result, event and record [001-roadmap-cache]", async () => {
    const { arsenal, forecast, records, runs } = forecasts({});
    await using _ = arsenal;
    const finished: unknown[] = [];
    arsenal.subscribe(({ name, data }) => void (name === "call-finished" && finished.push(data)));

    const fresh = await forecast("Oslo");
    expect(fresh).not.toHaveProperty("cached");
    const again = await forecast("Oslo");
    expect(again).toMatchObject({ status: "success", result: { run: 1 }, cached: true, attempts: 0, latencyMs: 0 });
    expect(runs()).toBe(1);
    expect(records()).toMatchObject([
      { status: "success", attempts: 1, decision: { effect: "allowed" } },
      { status: "success", attempts: 0, cached: true, decision: { effect: "allowed" } },
    ]);
    await arsenal.close(); // delivers every event
    expect(finished).toMatchObject([{ attempts: 1 }, { attempts: 0, cached: true }]);
    expect(finished[0]).not.toHaveProperty("cached");
  });

  it("keeps other arguments, callers, tenants, toolsets and auxiliary data apart", async () => {
    const { arsenal, forecast, runs } = forecasts({});
    await using _ = arsenal;
    const filter = { namespaces: ["weather"] };
    const set = { name: "sky", description: "", tags: [], filter, policy: {} };
    arsenal.toolsets.add({ ...set, view: "live" });
    const principal = (id: string, tenant?: string) => ({
      principal: localOperator({ id, ...(tenant !== undefined && { tenant }) }),
    });
    const calls = [
      {},
      principal("ann"),
      principal("bob"),
      principal("ann", "acme"),
      principal("ann", "zeta"),
      { toolset: "sky" },
      { auxdata: { units: "metric" } },
    ];
    for (const more of calls) expect(await forecast("Oslo", more)).not.toHaveProperty("cached");
    expect(await forecast("Rome")).not.toHaveProperty("cached");
    for (const more of calls) expect(await forecast("Oslo", more)).toHaveProperty("cached", true);
    expect(runs()).toBe(8);
    await forecast("Oslo", { auxdata: { log: () => {} } });
    expect(await forecast("Oslo", { auxdata: { log: () => {} } })).not.toHaveProperty("cached");
  });

  it("treats arguments that differ in order, repair or defaults as the same", async () => {
    const { arsenal, runs } = forecasts({});
    await using _ = arsenal;
    const properties = { n: { type: "number" }, unit: { type: "string", default: "C" } } as const;
    const parameters = { type: "object", properties, required: ["n"] } as const;
    let own = 0;
    arsenal.register({ name: "convert", description: "Converts.", parameters, annotations: READ_ONLY }, () => ++own);
    for (const args of [{ n: 1, unit: "C" }, { unit: "C", n: 1 }, { n: 1 }, { n: "1" }])
      expect(await arsenal.execute({ toolName: "convert", arguments: args })).toMatchObject({ result: 1 });
    expect(runs()).toBe(0);
  });

  it.each(["weather.report", "weather.guess"])(
    "never answers for %s, which nobody confirmed as read-only",
    async (toolName) => {
      const { arsenal, runs } = forecasts({});
      await using _ = arsenal;
      await arsenal.execute({ toolName });
      expect(await arsenal.execute({ toolName })).not.toHaveProperty("cached");
      expect(runs()).toBe(2);
    },
  );

  it("covers only the tools that its patterns name", async () => {
    const { arsenal, forecast, runs } = forecasts({ tools: ["docs.*"] });
    await using _ = arsenal;
    await forecast("Oslo");
    await forecast("Oslo");
    expect(runs()).toBe(2);
  });

  it("keeps no failure, and no result that JSON cannot hold", async () => {
    let answer: unknown = new Error("down");
    const handler = () => {
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const { arsenal, forecast } = forecasts({}, { handler });
    await using _ = arsenal;
    expect((await forecast("Oslo")).status).toBe("failure");
    for (const value of [new Date(0), new Map(), [undefined], 1n, { at: new Date(0) }]) {
      answer = value;
      expect(await forecast("Oslo")).toMatchObject({ status: "success", result: value });
      expect(await forecast("Oslo")).not.toHaveProperty("cached");
    }
    answer = undefined;
    await forecast("Oslo");
    expect(await forecast("Oslo")).toMatchObject({ status: "success", result: undefined, cached: true });
  });

  it("gives every caller a copy of its own", async () => {
    const { arsenal, forecast } = forecasts({}, { handler: () => ({ days: [1, 2] }) });
    await using _ = arsenal;
    for (let turn = 0; turn < 3; turn++) {
      const { result } = await forecast("Oslo");
      expect(result).toEqual({ days: [1, 2] });
      (result as { days: number[] }).days.push(9);
    }
  });

  it("answers until its time to live has passed", async () => {
    const { arsenal, clock, forecast, runs } = forecasts({ ttlS: 10 });
    await using _ = arsenal;
    await forecast("Oslo");
    await clock.advance(9_999);
    expect(await forecast("Oslo")).toHaveProperty("cached", true);
    await clock.advance(1);
    expect(await forecast("Oslo")).not.toHaveProperty("cached");
    expect(runs()).toBe(2);
  });

  it("drops the result that was asked for longest ago, by count and by size", async () => {
    const text = "x".repeat(1_000);
    for (const bound of [{ maxEntries: 2 }, { maxBytes: 2_500 }]) {
      const { arsenal, forecast } = forecasts(bound, { handler: () => text });
      await using _ = arsenal;
      await forecast("Oslo");
      await forecast("Rome");
      await forecast("Oslo");
      await forecast("Bonn");
      const cached = [];
      for (const city of ["Oslo", "Bonn", "Rome"]) cached.push((await forecast(city)).cached ?? false);
      expect(cached).toEqual([true, true, false]);
    }
  });

  it("keeps no result that alone exceeds its size", async () => {
    const { arsenal, forecast } = forecasts(
      { maxBytes: 1_024 },
      { handler: ({ city }) => (city === "Oslo" ? "small" : "x".repeat(2_000)) },
    );
    await using _ = arsenal;
    await forecast("Oslo");
    await forecast("Rome");
    expect(await forecast("Rome")).not.toHaveProperty("cached");
    expect(await forecast("Oslo")).toHaveProperty("cached", true);
  });

  it("runs the tool for a call that asks for a fresh result, and keeps that one", async () => {
    const { arsenal, forecast } = forecasts({});
    await using _ = arsenal;
    await forecast("Oslo");
    expect(await forecast("Oslo", { cache: false })).toMatchObject({ result: { run: 2 }, attempts: 1 });
    expect(await forecast("Oslo")).toMatchObject({ result: { run: 2 }, cached: true });
    expect((await forecast("Oslo", { cache: "no" })).error).toMatchObject({ code: "CALL_INVALID", field: "cache" });
  });

  it("forgets a tool that is deleted or registered anew", async () => {
    const { arsenal, forecast } = forecasts({});
    await using _ = arsenal;
    await forecast("Oslo");
    const definition = {
      name: "forecast",
      namespace: "weather",
      description: "Handles the forecast of a city.",
      annotations: READ_ONLY,
    };
    arsenal.register(definition, () => "another handler");
    expect(await forecast("Oslo")).toMatchObject({ result: "another handler", attempts: 1 });
    expect(await forecast("Oslo")).toHaveProperty("cached", true);
    arsenal.register({ ...definition, description: "Handles the forecast of any city." }, () => "changed");
    expect(await forecast("Oslo")).toMatchObject({ result: "changed", attempts: 1 });
    await arsenal.deleteTool("forecast", "weather");
    expect((await forecast("Oslo")).error?.code).toBe("TOOL_NOT_FOUND");
  });

  it("drops what was read before a call that may have changed it, also if the two overlap", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { arsenal, forecast } = forecasts({}, { handler: ({ city }) => (city === "slow" ? held : "now") });
    await using _ = arsenal;
    await forecast("Oslo");
    const overlapping = forecast("slow");
    await arsenal.execute({ toolName: "weather.report" });
    release();
    await overlapping;
    expect(await forecast("Oslo")).not.toHaveProperty("cached");
    expect(await forecast("slow")).not.toHaveProperty("cached");
    arsenal.register({ name: "write", namespace: "elsewhere", description: "Writes elsewhere." }, () => "done");
    await arsenal.execute({ toolName: "elsewhere.write" });
    expect(await forecast("Oslo")).toHaveProperty("cached", true);
  });
});

describe("the guard, for a cached result", () => {
  it("applies the policy of the moment: refusals, redaction and limits", async () => {
    const policy: ToolArsenalParts["policy"] = {
      sees: () => true,
      decide({ principal: { roles } }) {
        if (roles.includes("left")) return { effect: "deny", rule: "gone", reason: "No." };
        const redact = roles.includes("guest") ? { redact: [createRedaction("card")] } : {};
        return { effect: "allow", rule: roles[0] ?? "", obligations: redact };
      },
    };
    const { arsenal, forecast, records, runs } = forecasts(
      {},
      { policy, handler: () => ({ city: "Oslo", card: "4111" }) },
    );
    await using _ = arsenal;
    const as = (role: string) => ({ principal: localOperator({ id: "ann", roles: [role] }) });

    expect(await forecast("Oslo", as("clerk"))).toMatchObject({ result: { card: "4111" } });
    const guest = await forecast("Oslo", as("guest"));
    expect(guest).toMatchObject({ cached: true, status: "success" });
    expect(JSON.stringify(guest.result)).not.toContain("4111");
    expect(await forecast("Oslo", as("clerk"))).toMatchObject({ result: { card: "4111" }, cached: true });
    expect(await forecast("Oslo", as("left"))).toMatchObject({ status: "permission_denied" });
    expect(runs()).toBe(1);
    expect(records().at(1)).toMatchObject({ cached: true, decision: { effect: "allowed", rule: "guest" } });
  });

  it("counts it against the rate limits", async () => {
    const { arsenal } = forecasts({});
    await using _ = arsenal;
    const cost = { rateLimit: 2 };
    arsenal.register({ name: "scarce", description: "Reads.", annotations: READ_ONLY, cost }, () => "read");
    const call = { toolName: "scarce" };
    expect(await arsenal.execute(call)).toMatchObject({ attempts: 1 });
    expect(await arsenal.execute(call)).toMatchObject({ cached: true });
    expect(await arsenal.execute(call)).toMatchObject({ error: { code: "RATE_LIMITED" } });
  });

  it("has a person approve each call that needs it, and answers none of them from the cache", async () => {
    const policy: ToolArsenalParts["policy"] = {
      sees: () => true,
      decide: () => ({ effect: "confirm", rule: "ask", reason: "Ask." }),
    };
    const { arsenal, forecast, runs } = forecasts({}, { policy });
    await using _ = arsenal;
    for (let turn = 1; turn <= 2; turn++) {
      const { status, confirmationId = "" } = await forecast("Oslo");
      expect(status).toBe("pending_confirmation");
      await arsenal.approvals.approve(confirmationId, localOperator({ id: "boss" }));
      expect(await forecast("Oslo", { confirmationId })).toMatchObject({ status: "success", attempts: 1 });
    }
    expect(runs()).toBe(2);
  });

  it.each(["strict", "standard"] as const)(
    "withholds it if its audit record must be kept and cannot be, under the %s policy",
    async (policy) => {
      const log = memoryAudit();
      let fails = false;
      const audit = {
        ...log,
        append: (record: Parameters<typeof log.append>[0]) =>
          fails ? Promise.reject(new Error("No space left.")) : log.append(record),
      };
      const security = { policy, allow: ["*"] };
      await using arsenal = new ToolArsenal({ security, execution: { resultCache: {} }, audit });
      arsenal.register({ name: "read", description: "Reads.", annotations: READ_ONLY }, () => "read");
      const set = { name: "audited", description: "", tags: [], filter: { names: ["read"] } };
      arsenal.toolsets.add({ ...set, view: "live", policy: { auditLog: true } });
      const call = { toolName: "read", ...(policy === "standard" && { toolset: "audited" }) };

      expect(await arsenal.execute(call)).toMatchObject({ status: "success" });
      fails = true;
      const withheld = await arsenal.execute(call);
      expect(withheld.error?.code).toBe("AUDIT_FAILED");
      expect(withheld).not.toHaveProperty("result");
      expect((await arsenal.execute(call)).error).toMatchObject({ code: "AUDIT_FAILED", beforeSend: true });
    },
  );

  it("leaves calls with an idempotency key to their own results", async () => {
    const { arsenal, forecast, runs } = forecasts({});
    await using _ = arsenal;
    await forecast("Oslo");
    const keyed = await forecast("Oslo", { idempotencyKey: "k" });
    expect(keyed).not.toHaveProperty("cached");
    expect(runs()).toBe(2);
  });
});
