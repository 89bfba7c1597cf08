import { afterEach, describe, expect, it } from "vitest";
import { ToolArsenal, type ToolArsenalOptions } from "../index.ts";
import { ArsenalError } from "../errors/arsenal-error.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { type Context, createEnsemble, createInvoker } from "./create-ensemble.ts";
import type { EnsembleConfiguration } from "./ensemble.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

function createArsenal(options?: ToolArsenalOptions): ToolArsenal {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, ...options });
  ends.push(() => arsenal.close());
  return arsenal;
}

const argumentsSchema = {
  type: "object",
  properties: { location: { type: "string", description: "City and state" } },
  required: ["location"],
} as const;

const getWeather = createInvoker({
  name: "get_weather",
  description: "Gets the current weather for a location.",
  invocable: async (_context, { location }) => ({ location, temperature: 62, conditions: "Partly cloudy" }),
  argumentsSchema,
});

describe("an ensemble made in code", () => {
  it("runs an invoker with checked arguments once it is connected", async () => {
    const ensemble = createEnsemble({ name: "weather", invokers: [getWeather] });
    expect(ensemble.invokers.size).toBe(0);
    await ensemble.connect();
    const invoker = ensemble.accessInvoker("get_weather");
    expect(invoker).toMatchObject({ name: "get_weather", argumentsSchema, tool: { id: "weather.get_weather" } });
    expect(invoker.ensemble).toBe(ensemble);
    expect(ensemble.accessInvoker("get_weather")).toBe(invoker);
    expect(await invoker.invoke({ location: "San Francisco, CA" })).toMatchObject({
      status: "success",
      result: { location: "San Francisco, CA", temperature: 62, conditions: "Partly cloudy" },
    });
    expect((await invoker.invoke({})).error?.code).toBe("ARGUMENTS_INVALID");
    await ensemble.disconnect();
    await ensemble.disconnect();
    expect(ensemble.invokers.size).toBe(0);
  });

  it("hands the invocable auxdata, its invoker and a namespace that the ensemble's calls share", async () => {
    const remember = createInvoker({
      name: "remember",
      description: "Remembers how often it was called.",
      invocable: ({ auxdata, invoker, namespace }: Context) => {
        namespace.set("calls", Number(namespace.get("calls") ?? 0) + 1);
        const { name, ensemble } = invoker;
        return [auxdata["user"], name, ensemble.configuration["greeting"], namespace.get("calls")];
      },
    });
    const again = createInvoker({
      name: "recall",
      description: "Says how often remember was called.",
      invocable: ({ namespace }) => namespace.get("calls"),
    });
    const ensemble = createEnsemble(
      { name: "notes", invokers: { remember, recall: again }, configuration: { greeting: "hello" } },
      { arsenal: createArsenal() },
    );
    await ensemble.connect();
    const invoke = (name: string) => ensemble.accessInvoker(name).invoke({}, { auxdata: { user: "ada" } });
    await invoke("remember");
    expect((await invoke("remember")).result).toEqual(["ada", "remember", "hello", 2]);
    expect((await invoke("recall")).result).toBe(2);
  });

  it("keeps apart tools of two ensembles that have the same name", async () => {
    const arsenal = createArsenal();
    const ensembles = ["north", "south"].map((name) => {
      const invocable = (): string => name;
      const description = "Says which ensemble it is in.";
      return createEnsemble(
        { name, invokers: [createInvoker({ name: "where", description, invocable })] },
        { arsenal },
      );
    });
    for (const ensemble of ensembles) await ensemble.connect();
    const results = ensembles.map((ensemble) => ensemble.accessInvoker("where").invoke({}));
    expect((await Promise.all(results)).map(({ result }) => result)).toEqual(["north", "south"]);
    expect(arsenal.toolCount).toBe(2);
    await ensembles[0]?.disconnect();
    expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["south.where"]);
  });

  it("names the nearest invoker when there is none of a name", async () => {
    const ensemble = createEnsemble({ name: "weather", invokers: [getWeather] }, { arsenal: createArsenal() });
    expect(() => ensemble.accessInvoker("get_weather")).toThrow("Connect it first.");
    await ensemble.connect();
    expect(() => ensemble.accessInvoker("get_wether")).toThrow(
      'The ensemble "weather" has no invoker named "get_wether". Did you mean "get_weather"?',
    );
    expect(() => ensemble.accessInvoker("zzzzzz")).toThrow("Use one of get_weather.");
  });

  it("opens its connection with connect, closes it with disconnect, and can be connected again", async () => {
    const log: string[] = [];
    const ensemble = createEnsemble({
      name: "rooms",
      invokers: [getWeather],
      connect: async () => (log.push("open"), { id: log.length }),
      disconnect: async ({ id }) => void log.push(`close ${id}`),
    });
    await Promise.all([ensemble.connect(), ensemble.connect()]);
    expect(ensemble.connection).toEqual({ id: 1 });
    await Promise.all([ensemble.disconnect(), ensemble.connect()]);
    expect(ensemble.connection).toEqual({ id: 3 });
    await ensemble.disconnect();
    expect(ensemble.connection).toBeUndefined();
    expect(log).toEqual(["open", "close 1", "open", "close 3"]);
  });

  it("leaves nothing behind when it cannot be connected", async () => {
    const arsenal = createArsenal();
    const connect = (): Promise<never> => Promise.reject(new Error("connection refused"));
    const ensemble = createEnsemble({ name: "rooms", invokers: [getWeather], connect }, { arsenal });
    await expect(ensemble.connect()).rejects.toThrow("connection refused");
    expect([ensemble.invokers.size, arsenal.toolCount]).toEqual([0, 0]);
  });

  it("is disconnected without harm after its arsenal was closed", async () => {
    const arsenal = createArsenal();
    const ensemble = createEnsemble({ name: "weather", invokers: [getWeather] }, { arsenal });
    await ensemble.connect();
    await arsenal.close();
    await expect(ensemble.disconnect()).resolves.toBeUndefined();
    expect(ensemble.invokers.size).toBe(0);
  });

  it("refuses two invokers of one name, and one under another's name", () => {
    expect(() => createEnsemble({ name: "x", invokers: [getWeather, getWeather] })).toThrow("two invokers named");
    expect(() => createEnsemble({ name: "x", invokers: { weather: getWeather } })).toThrow(
      '"get_weather" under "weather"',
    );
    expect(() => createInvoker({ name: "execute", description: "Reserved name.", invocable: () => 1 })).toThrow(
      "reserved",
    );
  });
});

describe("the defaults of an ensemble", () => {
  it.each([
    [{ timeout: -1 }, "configuration.timeout must be a number of seconds from 0.1 to 300, not -1."],
    [{ maxRetries: 1.5 }, "configuration.maxRetries must be a whole number from 0 to 5, not 1.5."],
    [{ maxConcurrent: 0 }, "configuration.maxConcurrent must be a whole number from 1 to 100000, not 0."],
  ])("are checked: %j", (configuration, problem) => {
    expect(() => createEnsemble({ name: "weather", invokers: [getWeather], configuration })).toThrow(
      `The ensemble "weather": ${problem}`,
    );
  });

  /** Runs an invoker that is safe to repeat and cannot reach its server. */
  async function attemptsOf(
    configuration: EnsembleConfiguration,
    annotations: object,
    retryCount = 0,
  ): Promise<number> {
    const arsenal = createArsenal({ execution: { retryBaseMs: 0, retryBudget: 1 } });
    const fetch = createInvoker({
      name: "fetch_page",
      description: "Fetches a page that is never there.",
      annotations,
      invocable: () => Promise.reject(new ArsenalError("TRANSPORT_FAILED", "connection reset")),
    });
    const ensemble = createEnsemble({ name: "web", invokers: [fetch], configuration }, { arsenal });
    await ensemble.connect();
    return (await ensemble.accessInvoker("fetch_page").invoke({}, { retryCount })).attempts;
  }

  it("say how often a call that is safe to repeat is made; the call's own count goes first", async () => {
    const readOnly = { readOnly: true };
    expect(await attemptsOf({}, readOnly)).toBe(3);
    expect(await attemptsOf({ maxRetries: 2 }, readOnly)).toBe(2);
    expect(await attemptsOf({ maxRetries: 0 }, readOnly)).toBe(1);
    expect(await attemptsOf({ maxRetries: 5 }, readOnly, 4)).toBe(4);
  });

  it("never make a call again that is not safe to repeat", async () => {
    expect(await attemptsOf({ maxRetries: 5 }, { readOnly: false })).toBe(1);
  });

  it("say how many seconds a call may take and how many run at once", async () => {
    const clock = createManualClock();
    const arsenal = createArsenal({ clock });
    let runs = 0;
    const started = Promise.withResolvers<void>();
    const wait = createInvoker({
      name: "wait_long",
      description: "Waits until it is stopped.",
      annotations: { readOnly: true },
      invocable: ({ signal }) => {
        runs++;
        started.resolve();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
      },
    });
    const configuration = { timeout: 2, maxConcurrent: 1, maxRetries: 1 };
    const ensemble = createEnsemble({ name: "slow", invokers: [wait], configuration }, { arsenal });
    await ensemble.connect();
    const calls = [1, 2].map(() => ensemble.accessInvoker("wait_long").invoke({}));
    await started.promise;
    await clock.advance(2_000);
    const results = await Promise.all(calls);
    expect(results.map(({ status, attempts }) => [status, attempts])).toEqual([
      ["timeout", 1],
      ["timeout", 0],
    ]);
    expect([runs, clock.now()]).toEqual([1, 2_000]);
  });
});
