import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openCatalog, searchCatalog } from "../../../test/catalog/search-catalog.ts";
import { memoryEngine } from "../../adapters/engines/memory.ts";
import type { EventMap } from "../../observe/events.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { ToolFilter } from "../../tool/tool-filter.ts";
import type { Tool } from "../../tool/tool.ts";
import type { Catalog } from "../catalog.ts";
import type { Embedder } from "../embedder.port.ts";

const all = { limit: 10 };

function tool(name: string, description = `Does ${name} for people.`, examples: readonly string[] = []): Tool {
  return defineTool({ name, description, examples, parameters: { type: "object", properties: {} } });
}

const many = (count: number): readonly Tool[] =>
  Array.from({ length: count }, (_, index) => tool(`thing_${String(index).padStart(3, "0")}`));

/** An embedder whose answers wait until the test lets them go, and that can be away. */
interface Controlled extends Embedder {
  readonly embedded: string[];
  /** How often it was asked to embed tools. */
  asked: number;
  ready: boolean;
  broken: boolean;
  /** While set, embedding tools waits. */
  gate: Promise<void> | undefined;
  /** Texts it has at hand. */
  readonly known: Set<string>;
  closed: boolean;
}

/** Texts are placed by the words given; the last component is what all share. */
function controlled(model: string, words: readonly RegExp[]): Controlled {
  const place = (text: string): Float32Array => {
    const values = [...words.map((word) => (word.test(text) ? 1 : 0)), 0.3];
    const length = Math.hypot(...values);
    return Float32Array.from(values, (value) => value / length);
  };
  return {
    model,
    dimension: words.length + 1,
    embedded: [],
    asked: 0,
    ready: true,
    broken: false,
    gate: undefined,
    known: new Set<string>(),
    closed: false,
    async embed(texts, { kind, signal }) {
      if (this.broken) throw new Error("no model today");
      if (kind === "tool") {
        this.asked++;
        await this.gate;
        signal?.throwIfAborted();
      }
      this.embedded.push(...texts);
      return texts.map(place);
    },
    async recall(texts) {
      return texts.map((text) => (this.known.has(text) ? place(text) : undefined));
    },
    async healthCheck() {
      return !this.broken;
    },
    async close() {
      this.closed = true;
    },
  };
}

async function open(): Promise<{
  catalog: Catalog;
  quick: Controlled;
  good: Controlled;
  clock: ReturnType<typeof createManualClock>;
  failures: EventMap["embedder-failed"][];
}> {
  const quick = controlled("quick-1", [/mail|letter/i, /refund/i]);
  const good = controlled("good-1", [/mail|letter|write to/i, /refund|money back/i, /thing_07/i]);
  const clock = createManualClock();
  const failures: EventMap["embedder-failed"][] = [];
  const catalog = await openCatalog({
    engine: memoryEngine(),
    tiers: [
      { name: "static", embedder: quick },
      { name: "tuned", embedder: good },
    ],
    clock,
    emit: (name, data) => void (name === "embedder-failed" && failures.push(data as EventMap["embedder-failed"])),
  });
  return { catalog, quick, good, clock, failures };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

async function tierOf(
  catalog: Catalog,
  text = "letter",
  search: { readonly filter?: ToolFilter } = {},
): Promise<string> {
  return (await searchCatalog(catalog, text, { limit: 10, ...search })).tier;
}

describe("tiers", () => {
  it("answers from the lesser tier at once and leaves the better one alone for a while", async () => {
    const { catalog, good, clock } = await open();
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    expect(await tierOf(catalog)).toBe("static");
    await clock.advance(149);
    expect(good.embedded).toEqual([]);
    await clock.advance(1);
    await catalog.settled();
    expect(good.embedded).toEqual(["mailer: Sends mail."]);
    expect([await tierOf(catalog), catalog.tier]).toEqual(["tuned", "tuned"]);
    expect((await searchCatalog(catalog, "money back", all)).hits).toHaveLength(1);
  });

  it("begins at once where somebody waits", async () => {
    const { catalog } = await open();
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await catalog.settled();
    expect(await tierOf(catalog)).toBe("tuned");
  });

  it("neither registration nor retrieval waits for the better tier", async () => {
    const { catalog, good, clock } = await open();
    const { promise, resolve } = Promise.withResolvers<void>();
    good.gate = promise;
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await clock.advance(150);
    await catalog.upsert([tool("payer", "Gives a refund.")]);
    expect(await tierOf(catalog)).toBe("static");
    resolve();
    await catalog.settled();
    expect(await tierOf(catalog)).toBe("tuned");
  });

  it("takes what the better embedder has at hand first", async () => {
    const { catalog, good } = await open();
    good.known.add("second: Does second for people.");
    await catalog.upsert([tool("first"), tool("second")]);
    await catalog.settled();
    expect(good.embedded).toEqual(["first: Does first for people."]);
  });

  it("answers the first request from the better tier if its vectors are cached, within three seconds", async () => {
    const { catalog, good, clock } = await open();
    good.known.add("first: Does first for people.");
    good.ready = false;
    const loading = Promise.withResolvers<boolean>();
    good.healthCheck = () => loading.promise;
    await catalog.upsert([tool("first")]);
    const searching = tierOf(catalog);
    await until(() => clock.pending > 1);
    await clock.advance(3_000);
    expect([await searching, await tierOf(catalog)]).toEqual(["static", "static"]);
    good.healthCheck = async () => (good.ready = true);
    good.known.add("second: Does second for people.");
    await catalog.upsert([tool("second")]);
    expect([await tierOf(catalog), good.asked]).toEqual(["tuned", 0]);
  });

  it("mixes the two while the better tier knows a part, and puts unknown tools where the lesser one lets expect", async () => {
    const { catalog, good, clock } = await open();
    const tools = [...many(30), tool("mailer", "Sends mail."), tool("poster", "Posts a letter.")];
    // The better tier gets to know ten things and the mailer; the rest is held back.
    for (const { name, description } of [...tools.slice(0, 10), ...tools.slice(-2, -1)])
      good.known.add(`${name.replaceAll("_", " ")}: ${description}`);
    const { promise, resolve } = Promise.withResolvers<void>();
    good.gate = promise;
    await catalog.upsert(tools);
    await clock.advance(150);
    const result = await searchCatalog(catalog, "write a letter", all);
    expect([result.tier, catalog.tier]).toEqual(["tuned+static", "tuned+static"]);
    expect(
      result.hits
        .slice(0, 2)
        .map((hit) => hit.tool.name)
        .sort(),
    ).toEqual(["mailer", "poster"]);
    expect(result.hits[1]?.semanticScore).toBeGreaterThan(0.7);
    resolve();
    await catalog.settled();
    expect(await tierOf(catalog)).toBe("tuned");
  });

  it.each([
    ["a quarter", 10, 40, "tuned+static"],
    ["less than a quarter", 10, 41, "static"],
    ["fewer than ten", 9, 12, "static"],
  ])("asks the better tier from the moment it knows enough: %s", async (_, known, count, expected) => {
    const { catalog, good, clock } = await open();
    const tools = many(count);
    for (const { name, description } of tools.slice(0, known))
      good.known.add(`${name.replaceAll("_", " ")}: ${description}`);
    good.gate = new Promise(() => {});
    await catalog.upsert(tools);
    await clock.advance(150);
    expect(await tierOf(catalog)).toBe(expected);
  });

  it("counts only the tools that pass the filter", async () => {
    const { catalog, good, clock } = await open();
    const tools = many(100);
    for (const { name, description } of tools.slice(0, 3))
      good.known.add(`${name.replaceAll("_", " ")}: ${description}`);
    good.gate = new Promise(() => {});
    await catalog.upsert(tools);
    await clock.advance(150);
    const filter = { ids: tools.slice(0, 3).map(({ id }) => id) };
    expect(await tierOf(catalog, "thing", { filter })).toBe("tuned");
    expect(await tierOf(catalog)).toBe("static");
  });

  it("answers from the lesser tier while the better model is loading", async () => {
    const { catalog, good } = await open();
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await catalog.settled();
    good.ready = false;
    expect([await tierOf(catalog), catalog.tier]).toEqual(["static", "static"]);
  });

  it("answers from the lesser tier, and says so once, while the better embedder fails, and by words where both do", async () => {
    const { catalog, quick, good, failures } = await open();
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await catalog.settled();
    good.broken = true;
    expect([await tierOf(catalog), await tierOf(catalog)]).toEqual(["static", "static"]);
    expect(failures).toEqual([
      {
        model: "good-1",
        tools: 0,
        message: "Requests are answered by a lesser model only until the embedder good-1 works again: no model today",
      },
    ]);
    expect(await catalog.healthCheck()).toEqual({ store: true, embedder: false });
    quick.broken = true;
    expect(await tierOf(catalog)).toBe("lexical");
    good.broken = false;
    expect(await tierOf(catalog)).toBe("tuned");
  });

  it("stops where the better embedder cannot embed, loses nothing, and goes on with the next tools", async () => {
    const { catalog, good, failures } = await open();
    good.broken = true;
    await catalog.upsert(many(40));
    await catalog.settled();
    expect(failures.map(({ message }) => message)).toEqual(["The embedder good-1 is not used: it cannot be loaded"]);
    expect(await tierOf(catalog)).toBe("static");
    good.broken = false;
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await catalog.settled();
    expect(await tierOf(catalog)).toBe("tuned");
    expect(good.embedded.filter((text) => text.startsWith("thing"))).toHaveLength(40);
  });

  it("does not let the vector of an earlier text speak for a changed tool, nor keep one that came too late", async () => {
    const { catalog, good, clock } = await open();
    const { promise, resolve } = Promise.withResolvers<void>();
    good.gate = promise;
    await catalog.upsert([tool("worker", "Sends mail.")]);
    await clock.advance(150);
    await until(() => good.asked === 1);
    await catalog.upsert([tool("worker", "Gives a refund.")]);
    const later = Promise.withResolvers<void>();
    good.gate = later.promise;
    resolve();
    await until(() => good.asked === 2);
    expect(await tierOf(catalog)).toBe("static");
    later.resolve();
    await catalog.settled();
    expect(good.embedded).toEqual(["worker: Sends mail.", "worker: Gives a refund."]);
    expect((await searchCatalog(catalog, "money back", all)).hits[0]?.semanticScore).toBeGreaterThan(0.9);
    good.gate = new Promise(() => {});
    await catalog.upsert([tool("worker", "Sends mail.")]);
    expect(await tierOf(catalog)).toBe("static");
  });

  it("knows what is at hand while the better embedder is away, and answers when it is back", async () => {
    const { catalog, good } = await open();
    good.known.add("first: Does first for people.");
    good.broken = true;
    await catalog.upsert([tool("first")]);
    expect(await catalog.settled()).toEqual({ pending: 0 });
    good.broken = false;
    expect(await tierOf(catalog)).toBe("tuned");
  });

  it("does not embed a tool that was deleted meanwhile", async () => {
    const { catalog, good } = await open();
    await catalog.upsert([tool("mailer", "Sends mail."), tool("payer", "Gives a refund.")]);
    await catalog.delete(["default.payer"]);
    await catalog.settled();
    expect(good.embedded).toEqual(["mailer: Sends mail."]);
  });

  it("finds a tool by its examples", async () => {
    const { catalog, good } = await open();
    await catalog.upsert([
      tool("payer", "Pays somebody.", ["please give my money back"]),
      tool("refunder", "Gives a refund."),
    ]);
    await catalog.settled();
    expect(good.embedded).toContain("please give my money back");
    const { hits, tier } = await searchCatalog(catalog, "money back", all);
    expect(tier).toBe("tuned");
    expect(hits.find((hit) => hit.tool.name === "payer")?.semanticScore).toBeGreaterThan(0.5);
    await catalog.upsert([tool("payer", "Pays somebody.")]);
    await catalog.settled();
    const without = (await searchCatalog(catalog, "money back", all)).hits;
    expect(without.find((hit) => hit.tool.name === "payer")?.semanticScore).toBeLessThan(0.5);
  });

  it("takes the best of a tool's own cosine and 0.95 of its examples', and forgets those that a changed tool no longer has", async () => {
    const quick = controlled("quick-1", [/mail/, /write/]);
    const engine = memoryEngine({ vectors: "float32" });
    const catalog = await openCatalog({
      engine,
      tiers: [{ embedder: quick }],
      clock: createManualClock(),
      emit: () => {},
    });
    const cosineOf = async (text: string): Promise<number | undefined> =>
      (await searchCatalog(catalog, text, all)).hits[0]?.cosine;
    await catalog.upsert([tool("mailer", "Sends mail.", ["write to Dana", "tell Bob"])]);
    expect(await cosineOf("write")).toBeCloseTo(0.95, 6);
    expect(await cosineOf("mail")).toBeCloseTo(1, 6);
    await catalog.upsert([tool("mailer", "Sends mail.", ["tell Bob"])]);
    expect(await cosineOf("write")).toBeLessThan(0.3);
  });

  it("keeps an example out of the answer where its tool is filtered out", async () => {
    const { catalog } = await open();
    await catalog.upsert([tool("payer", "Pays somebody.", ["give my money back"]), tool("mailer", "Sends mail.")]);
    await catalog.settled();
    const { hits } = await searchCatalog(catalog, "money back", { limit: 10, filter: { names: ["mailer"] } });
    expect(hits.map((hit) => hit.tool.name)).toEqual(["mailer"]);
  });

  it("ends the wait, not the work, when the signal fires", async () => {
    const { catalog, good } = await open();
    const { promise, resolve } = Promise.withResolvers<void>();
    good.gate = promise;
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    const controller = new AbortController();
    const waited = catalog.settled({ signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waited).rejects.toThrow("enough");
    resolve();
    await catalog.settled();
    expect(await tierOf(catalog)).toBe("tuned");
  });

  it("waits for the tier named alone", async () => {
    const { catalog, good } = await open();
    good.gate = new Promise(() => {});
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await catalog.settled({ tier: "static" });
    expect(await tierOf(catalog)).toBe("static");
  });

  it("stops in the middle when it is closed", async () => {
    const { catalog, quick, good, clock } = await open();
    const { promise, resolve } = Promise.withResolvers<void>();
    good.gate = promise;
    await catalog.upsert(many(40));
    await clock.advance(150);
    await until(() => good.asked === 1);
    const closed = catalog.close();
    resolve();
    await closed;
    expect([good.embedded.length, quick.closed, good.closed, clock.pending]).toEqual([0, true, true, 0]);
  });

  it("does not wait for a model that is still loading when it is closed", async () => {
    const { catalog, good, clock } = await open();
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    good.healthCheck = () => (resolve(), new Promise<boolean>(() => {}));
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await clock.advance(150);
    await asked;
    await catalog.close();
    expect([good.embedded, good.closed]).toEqual([[], true]);
  });

  it("never starts the better tier where it is closed before", async () => {
    const { catalog, good, clock } = await open();
    await catalog.upsert([tool("mailer", "Sends mail.")]);
    await catalog.close();
    await clock.advance(1000);
    expect(good.embedded).toEqual([]);
  });
});
