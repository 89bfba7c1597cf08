import { describe, expect, it } from "vitest";
import { openCatalog, searchCatalog } from "../../../test/catalog/search-catalog.ts";
import { memoryEngine } from "../../adapters/engines/memory.ts";
import type { EventMap } from "../../observe/events.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { sampleTools } from "../../testing/sample-tools.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Tool } from "../../tool/tool.ts";
import { type Catalog, type CatalogParts, createCatalog } from "../catalog.ts";
import type { Embedder } from "../embedder.port.ts";

const all = { limit: 10 };

function tool(name: string, description = `Does ${name} for people.`, namespace = "default"): Tool {
  return defineTool({ name, namespace, description, parameters: { type: "object", properties: {} } });
}

function parts(given: Partial<CatalogParts> = {}): CatalogParts & { readonly failures: EventMap["embedder-failed"][] } {
  const failures: EventMap["embedder-failed"][] = [];
  return {
    engine: memoryEngine(),
    clock: createManualClock(),
    emit: (name, data) => void (name === "embedder-failed" && failures.push(data as EventMap["embedder-failed"])),
    failures,
    ...given,
  };
}

const TOPICS = [
  /mail|message|letter|write to/i,
  /refund|money back|reimburse/i,
  /database|sql|rows/i,
  /report|numbers|chart/i,
];

/** Places a text by the topics it touches: a letter is a message, though they share no word. */
function topicEmbedder(): Embedder & { readonly embedded: string[]; broken: boolean; refuses: RegExp | undefined } {
  const embedded: string[] = [];
  return {
    model: "topics",
    dimension: TOPICS.length + 1,
    embedded,
    broken: false,
    refuses: undefined,
    async embed(texts, { signal }) {
      signal?.throwIfAborted();
      if (this.broken || texts.some((text) => this.refuses?.test(text))) throw new Error("no model today");
      embedded.push(...texts);
      return texts.map((text) => {
        const values = [...TOPICS.map((topic) => (topic.test(text) ? 1 : 0)), 0.2];
        const length = Math.hypot(...values);
        return Float32Array.from(values, (value) => value / length);
      });
    },
    async healthCheck() {
      return !this.broken;
    },
  };
}

async function names(catalog: Catalog, text: string): Promise<string[]> {
  return (await searchCatalog(catalog, text, all)).hits.map((hit) => hit.tool.name);
}

describe("catalog with an embedder", () => {
  async function open(given: Partial<CatalogParts> = {}): Promise<{
    catalog: Catalog;
    embedder: ReturnType<typeof topicEmbedder>;
    failures: EventMap["embedder-failed"][];
  }> {
    const embedder = topicEmbedder();
    const all_ = parts({ tiers: [{ embedder }], ...given });
    return { catalog: await openCatalog(all_), embedder, failures: all_.failures };
  }

  it("finds a tool that shares no word with the request [000-5.2-embedder]", async () => {
    const { catalog } = await open();
    await catalog.upsert(sampleTools());
    const { hits } = await searchCatalog(catalog, "reimburse", all);
    expect(hits[0]?.tool.name).toBe("process_refund");
    expect(hits[0]?.matchedTerms()).toEqual([]);
    expect(catalog.tier).toBe("topics");
  });

  it("puts forward no tool that is refused, by meaning either", async () => {
    const { catalog } = await open();
    await catalog.upsert(sampleTools());
    const { hits } = await searchCatalog(catalog, "reimburse", {
      limit: 10,
      filter: { not: { names: ["process_refund"] } },
    });
    expect(hits.map((hit) => hit.tool.name)).not.toContain("process_refund");
    expect(hits).toHaveLength(4);
  });

  it("does not show a tool that came while the request was being embedded unless it is accepted", async () => {
    const { catalog, embedder } = await open();
    await catalog.upsert([tool("old_letter", "Writes a letter.")]);
    const embed = embedder.embed.bind(embedder);
    embedder.embed = async (texts, options) => {
      embedder.embed = embed;
      await catalog.upsert([tool("new_letter", "Writes a letter."), tool("secret_letter", "Writes a letter.")]);
      return embed(texts, options);
    };
    const { hits } = await searchCatalog(catalog, "mail", { limit: 10, filter: { not: { names: ["secret_letter"] } } });
    expect(hits.map((hit) => hit.tool.name).sort()).toEqual(["new_letter", "old_letter"]);
  });

  it("compares tools by their words, not by their vectors", async () => {
    const { catalog } = await open();
    await catalog.upsert([
      tool("post_letter", "Posts sheets of paper."),
      tool("mailer", "Delivers parcels."),
      tool("mailer", "Delivers parcels.", "elsewhere"),
    ]);
    const { answer } = await searchCatalog(catalog, "mail", all);
    expect(answer.similarity("default.post_letter", "default.mailer")).toBe(0);
    expect(answer.similarity("default.mailer", "elsewhere.mailer")).toBeCloseTo(1, 6);
    expect(answer.similarity("default.mailer", "default.mailer")).toBe(1);
  });

  it("keeps a tool findable by its words when embedding fails, says so, and embeds it later", async () => {
    const { catalog, embedder, failures } = await open();
    embedder.refuses = /refund/;
    expect(await catalog.upsert([tool("process_refund", "Gives a refund.")])).toEqual({ indexed: 1, unchanged: 0 });
    expect(await catalog.upsert([tool("mailer", "Sends mail.")])).toEqual({ indexed: 1, unchanged: 0 });
    expect(failures).toEqual([
      {
        model: "topics",
        tools: 1,
        message:
          "default.process_refund can be found by words only until embedded again; the embedder topics failed: no model today",
      },
    ]);
    embedder.refuses = undefined;
    const { hits } = await searchCatalog(catalog, "refund", all);
    expect(hits[0]?.tool.name).toBe("process_refund");
    expect(hits[0]?.semanticScore).toBeGreaterThan(0.9);
    expect(await names(catalog, "reimburse")).toEqual(["mailer"]);
    expect(await catalog.upsert([tool("mailer", "Sends mail.")])).toEqual({ indexed: 0, unchanged: 1 });
    expect((await names(catalog, "reimburse"))[0]).toBe("process_refund");
  });

  it("embeds what it can of the tools left behind, past one that no model takes", async () => {
    const { catalog, embedder } = await open();
    embedder.broken = true;
    await catalog.upsert([
      tool("poison", "Breaks every model."),
      tool("process_refund", "Gives a refund."),
      tool("mailer", "Sends mail."),
    ]);
    embedder.broken = false;
    embedder.refuses = /Breaks/;
    await catalog.upsert([tool("sql", "Selects columns.")]);
    expect(embedder.embedded).toEqual([
      "process refund: Gives a refund.",
      "mailer: Sends mail.",
      "sql: Selects columns.",
    ]);
  });

  it("does not let the vector of an earlier text speak for a text that could not be embedded", async () => {
    const { catalog, embedder } = await open();
    await catalog.upsert([tool("thing", "Gives a refund.")]);
    embedder.refuses = /elephants/;
    await catalog.upsert([tool("thing", "Counts elephants.")]);
    expect(await names(catalog, "reimburse")).toEqual([]);
    embedder.refuses = undefined;
    expect(await names(catalog, "thing elephants")).toEqual(["thing"]);
  });

  it("counts the words of a tool that meaning puts forward, far down among those the words do", async () => {
    const { catalog } = await open();
    const many = Array.from({ length: 120 }, (_unused, index) => tool(`clips_${index}`, "Clips, clips, clips."));
    await catalog.upsert([
      ...many,
      tool("payer", "Gives a refund for parcels, envelopes, pencils, staples and clips."),
    ]);
    const [best] = (await searchCatalog(catalog, "reimburse clips", all)).hits;
    expect(best?.tool.name).toBe("payer");
    expect(best?.semanticScore).toBeGreaterThan(0.82);
  });

  it("weighs the meaning of a tool that words put forward, far down among those that meaning does", async () => {
    const { catalog } = await open();
    const many = Array.from({ length: 120 }, (_unused, index) => tool(`refund_${index}`, "Gives money to people."));
    await catalog.upsert([...many, tool("elephant_counter", "Counts elephants.")]);
    const { hits } = await searchCatalog(catalog, "reimburse elephants", { limit: 200 });
    expect(hits[0]?.tool.name).toMatch(/^refund_/);
    expect(hits.find((hit) => hit.tool.name === "elephant_counter")?.semanticScore).toBeLessThan(0.5);
  });

  it("answers by words while the embedder is away, says so once, and recovers", async () => {
    const { catalog, embedder, failures } = await open();
    await catalog.upsert(sampleTools());
    embedder.broken = true;
    expect((await names(catalog, "refund"))[0]).toBe("process_refund");
    expect((await names(catalog, "email"))[0]).toBe("send_email");
    expect(catalog.tier).toBe("lexical");
    expect(failures).toEqual([
      {
        model: "topics",
        tools: 0,
        message: "Requests are answered by words only until the embedder topics works again: no model today",
      },
    ]);
    expect(await catalog.healthCheck()).toEqual({ store: true, embedder: false });
    embedder.broken = false;
    expect((await names(catalog, "reimburse"))[0]).toBe("process_refund");
    expect(catalog.tier).toBe("topics");
  });

  it("gives up on an embedder that fails again and again, and loses no tool", async () => {
    const { catalog, embedder, failures } = await open();
    let tries = 0;
    embedder.embed = () => {
      tries++;
      return Promise.reject(new Error("away"));
    };
    const many = Array.from({ length: 500 }, (_, index) => tool(`tool_${index}`));
    expect(await catalog.upsert(many)).toEqual({ indexed: 500, unchanged: 0 });
    expect(tries).toBe(2);
    expect(failures.map(({ tools }) => tools)).toEqual([64, 64, 372]);
    expect((await names(catalog, "tool_321"))[0]).toBe("tool_321");
  });

  it("embeds what a cancelled upsert left without a vector when it comes again", async () => {
    const { catalog, embedder, failures } = await open();
    const controller = new AbortController();
    const { embed } = embedder;
    embedder.embed = () => {
      controller.abort(new Error("stop"));
      return Promise.reject(new Error("aborted"));
    };
    const letter = tool("writer", "Writes a letter.");
    await expect(catalog.upsert([letter], { signal: controller.signal })).rejects.toThrow("stop");
    embedder.embed = embed;
    expect(await catalog.upsert([letter])).toEqual({ indexed: 0, unchanged: 1 });
    expect(await names(catalog, "mail")).toEqual(["writer"]);
    expect(failures).toEqual([]);
  });

  it("neither indexes nor embeds a tool that has not changed [000-4.1-unchanged]", async () => {
    const { catalog, embedder } = await open();
    const [first, second] = [tool("first"), tool("second")];
    expect(await catalog.upsert([first, second])).toEqual({ indexed: 2, unchanged: 0 });
    const changed = tool("second", "Now does something else.");
    const again = { ...first, createdAt: first.createdAt + 1 };
    expect(await catalog.upsert([again, changed])).toEqual({ indexed: 1, unchanged: 1 });
    expect(await catalog.upsert([again, changed])).toEqual({ indexed: 0, unchanged: 2 });
    expect(embedder.embedded).toEqual([
      "first: Does first for people.",
      "second: Does second for people.",
      "second: Now does something else.",
    ]);
  });

  it("has what the engine had when it opens", async () => {
    const engine = memoryEngine();
    await engine.open();
    await engine.put(sampleTools());
    const embedder = topicEmbedder();
    const catalog = createCatalog(parts({ engine, tiers: [{ embedder }] }));
    expect([catalog.opened, catalog.size]).toEqual([false, 0]);
    await catalog.open();
    expect([catalog.opened, catalog.size]).toEqual([true, 5]);
    expect((await names(catalog, "reimburse"))[0]).toBe("process_refund");
    await catalog.open();
    // Two texts a tool, six examples among them, and the request.
    expect(embedder.embedded).toHaveLength(5 * 2 + 6 + 1);
  });

  it("does not embed at opening what the engine already has vectors of", async () => {
    const engine = memoryEngine();
    const embedder = topicEmbedder();
    const first = await openCatalog(parts({ engine, tiers: [{ embedder }] }));
    await first.upsert(sampleTools());
    embedder.embedded.length = 0;
    const second = await openCatalog(parts({ engine, tiers: [{ embedder }] }));
    expect(embedder.embedded).toEqual([]);
    expect((await names(second, "reimburse"))[0]).toBe("process_refund");
  });

  it("deletes tools with their vectors, and says how many there were", async () => {
    const { catalog } = await open();
    await catalog.upsert(sampleTools());
    expect(await catalog.delete(["default.send_email", "default.send_email", "default.nowhere"])).toBe(1);
    expect([await catalog.engine.count(), catalog.size]).toEqual([4, 4]);
    expect(await names(catalog, "letter")).not.toContain("send_email");
  });

  it("closes what it was given and takes no more work", async () => {
    const closed: string[] = [];
    const engine = { ...memoryEngine(), close: async () => void closed.push("engine") };
    const embedder = { ...topicEmbedder(), close: async () => void closed.push("embedder") };
    const catalog = await openCatalog(parts({ engine, tiers: [{ embedder }] }));
    await catalog.close();
    await catalog.close();
    expect(closed).toEqual(["engine", "embedder"]);
    await expect(searchCatalog(catalog, "x", all)).rejects.toMatchObject({ code: "CLOSED" });
  });
});
