import { CohereClientV2 } from "cohere-ai";
import { describe, expect, it } from "vitest";
import { COHERE_KEY, cohereDouble } from "../../../test/doubles/cohere.ts";
import type { SeenRequest } from "../../../test/doubles/http-double.ts";
import { rerankerContract, sampleTools } from "../../testing/index.ts";
import { check, cohereReranker } from "./cohere.ts";

describe("Cohere's reranker", () => {
  const make = async (settings = {}) => {
    const double = await cohereDouble();
    const adapter = cohereReranker({ apiKey: COHERE_KEY, apiBase: double.url, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of rerankerContract(make)) it(name, run);

  it("sends what the official client sends, and puts the best tool first [000-5.3-cohere]", async () => {
    const { adapter, double, dispose } = await make();
    const scores = await adapter.rerank("send an email message", sampleTools());
    expect(scores.indexOf(Math.max(...scores))).toBe(1);
    const [ours] = double.requests as [SeenRequest];
    const { documents } = ours.body as { documents: string[] };
    expect(documents[1]).toBe(
      "send_email: Send an email message to one or more recipients, with an optional attachment.\nParameters: to, subject, body",
    );
    const client = new CohereClientV2({ token: COHERE_KEY, environment: double.url });
    await client.rerank({ model: "rerank-v3.5", query: "send an email message", documents });
    const [one, other] = double.requests.map(({ method, path, headers, body }) => {
      return { method, path, authorization: headers.authorization, body };
    });
    expect(one).toEqual(other);
    await dispose();
  });

  it.each([
    ["a score too few", { results: [{ index: 0, relevance_score: 1 }] }],
    ["a place twice", { results: Array.from({ length: 5 }, () => ({ index: 0, relevance_score: 1 })) }],
    [
      "a place that is none",
      { results: Array.from({ length: 5 }, (_, at) => ({ index: at + 1, relevance_score: 1 })) },
    ],
    [
      "a score that is not a number",
      { results: Array.from({ length: 5 }, (_, index) => ({ index, relevance_score: "1" })) },
    ],
    ["nothing", null],
  ])("refuses an answer with %s", async (_what, body) => {
    const { adapter, double, dispose } = await make();
    double.answerNext({ status: 200, body });
    await expect(adapter.rerank("send", sampleTools())).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
    await dispose();
  });

  it("tells doctor whether it works, without the key", async () => {
    const { double, dispose } = await make();
    expect(await check({ apiKey: COHERE_KEY, apiBase: double.url })).toBe("cohere/rerank-v3.5 answers");
    const failure = await check({ apiKey: "co-wrong-0123456789", apiBase: double.url }).catch((error: Error) => error);
    expect(failure).toMatchObject({ code: "CONFIG_INVALID", details: { field: "reranker.api_key" } });
    expect(String(failure)).not.toContain("co-wrong-0123456789");
    await dispose();
  });
});
