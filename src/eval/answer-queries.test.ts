import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../arsenal.ts";
import { type Answering, answerQueries } from "./answer-queries.ts";
import type { SetQuery } from "./read-set.ts";
import { setSource } from "./set-source.ts";

const QUERY: SetQuery = { id: "1", query: "send an email", relevant: ["E"], alsoOk: [], history: [], style: undefined };

async function arsenalOf(...names: readonly string[]): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, telemetry: { enabled: false } });
  await arsenal.add(
    setSource(names.map((name) => ({ id: name.charAt(0).toUpperCase(), draft: { name, description: `To ${name}.` } }))),
  );
  return arsenal;
}

describe("answerQueries", () => {
  it("ranks by the ids of the file, without what neither counts nor costs", async () => {
    await using arsenal = await arsenalOf("email_send", "postcard_send");
    const options = { signal: new AbortController().signal, onProgress() {} };
    const { answers, tier } = await answerQueries(arsenal, [QUERY, { ...QUERY, alsoOk: ["P", "E"] }], options);
    expect(tier).toBe("lexical");
    expect(answers.map(({ ranking }) => ranking.map(({ id }) => id))).toEqual([["E", "P"], ["E"]]);
    expect(answers[0]).toMatchObject({ id: "1", refused: false, figures: { "recall@1": 1 } });
  });

  it("hears Ctrl-C though every answer comes from memory", async () => {
    await using arsenal = await arsenalOf("email_send");
    const controller = new AbortController();
    let [asked, time] = [0, 0];
    const counting: Answering = {
      async retrieve(query) {
        if (++asked === 1) setImmediate(() => controller.abort());
        const { signal: _, ...rest } = query;
        return arsenal.retrieve(rest);
      },
    };
    const running = answerQueries(
      counting,
      Array.from({ length: 500 }, () => QUERY),
      {
        signal: controller.signal,
        onProgress() {},
        now: () => (time += 10),
      },
    );
    await expect(running).rejects.toThrow("aborted");
    expect(asked).toBeLessThan(20);
  });
});
