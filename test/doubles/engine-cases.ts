import { expect, it } from "vitest";
import type { CatalogEngine } from "../../src/catalog/catalog-engine.port.ts";
import { type Clock, systemClock } from "../../src/observe/clock.ts";
import { sampleTools } from "../../src/testing/sample-tools.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { Double } from "./documented-double.ts";

/** An engine over HTTP, and the double it talks to. */
export interface DoubledEngine {
  readonly title: string;
  start(options?: { readonly apiKey?: string }): Promise<Double>;
  engine(options: { readonly url: string; readonly apiKey?: string }, clock?: Clock): CatalogEngine;
}

/** What every engine over HTTP does when the server refuses, is busy or is away. */
export function refusalCases({ title, start, engine }: DoubledEngine): void {
  it("names the setting of a wrong key, and does not show the key", async () => {
    const double = await start({ apiKey: "the right key" });
    const own = engine({ url: double.url, apiKey: "the-wrong-key" });
    const error = await own.open().catch((cause: unknown) => cause as Error & { details: object });
    expect(error).toMatchObject({ code: "STORE_FAILED", details: { field: "vector_store.api_key" } });
    expect((error as Error).message).toContain(title);
    expect(JSON.stringify([error, (error as Error).message])).not.toContain("the-wrong-key");
    await own.close();
    const keyless = engine({ url: double.url });
    await expect(keyless.open()).rejects.toThrow("Set vector_store.api_key");
    await keyless.close();
    process.env["DOUBLE_KEY"] = "the right key";
    const right = engine({ url: double.url, apiKey: "env:DOUBLE_KEY" });
    await right.open();
    expect(await right.count()).toBe(0);
    await right.close();
    await double.close();
  });

  it("waits as long as a busy server asks, and then goes on", async () => {
    const double = await start();
    const waits: number[] = [];
    const own = engine({ url: double.url }, impatient(waits));
    await own.open();
    await own.put(sampleTools());
    const busy = { status: 429, headers: { "retry-after": "7" } };
    waits.length = 0;
    double.answerNext(busy, { status: 503 }, busy);
    expect(await own.count()).toBe(5);
    expect(waits.length).toBe(3);
    expect([waits[0], waits[2]]).toEqual([7_000, 7_000]);
    double.answerNext(...Array.from({ length: 9 }, () => ({ status: 503 })));
    await expect(own.count()).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(waits.length).toBe(7);
    await own.close();
    await double.close();
  });

  it("says which address cannot be reached", async () => {
    const double = await start();
    const own = engine({ url: double.url });
    await own.open();
    expect(await own.healthCheck()).toBe(true);
    await double.close();
    expect(await own.healthCheck()).toBe(false);
    await expect(own.count()).rejects.toThrow(`Cannot reach ${title} at ${double.url}`);
    await own.close();
  });

  it("opens again after it was closed", async () => {
    const double = await start();
    const own = engine({ url: double.url });
    await own.open();
    await own.put(sampleTools());
    await own.close();
    await own.open();
    expect(await own.count()).toBe(5);
    await own.close();
    await double.close();
  });

  it("asks as often for a search among many tools as among few", async () => {
    const double = await start();
    const own = engine({ url: double.url });
    await own.open();
    const tool = (index: number) => defineTool({ name: `tool_${index}`, description: `Sends report number ${index}.` });
    const search = async (): Promise<number> => {
      await own.search({ limit: 5, texts: ["send a report"] });
      const before = double.requests.length;
      const { candidates } = await own.search({ limit: 5, texts: ["send a report"] });
      expect(candidates.length).toBe(5);
      return double.requests.length - before;
    };
    await own.put(Array.from({ length: 30 }, (_, index) => tool(index)));
    const few = await search();
    await own.put(Array.from({ length: 600 }, (_, index) => tool(index)));
    expect(await search()).toBe(few);
    await own.close();
    await double.close();
  });
}

/** A clock on which waits for a retry are over at once. The timeout of a request never comes. */
function impatient(waits: number[]): Clock {
  return {
    now: systemClock.now,
    after(ms, callback) {
      if (ms === 30_000) return () => {};
      waits.push(ms);
      setImmediate(callback);
      return () => {};
    },
  };
}
