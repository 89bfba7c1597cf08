import { describe, expect, it } from "vitest";
import { HF_KEY, teiDouble } from "../../../../test/doubles/tei.ts";
import { createEgress, type Egress } from "../../../guard/egress/egress.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import { embedderContract } from "../../../testing/index.ts";
import { check, huggingfaceEmbedder } from "./huggingface.ts";

const model = "sentence-transformers/all-MiniLM-L6-v2";

describe("the embedder of Hugging Face", () => {
  const make = async (settings = {}) => {
    const double = await teiDouble({ key: HF_KEY });
    const adapter = huggingfaceEmbedder({ apiKey: HF_KEY, apiBase: double.url, model, ...settings });
    return { adapter, dispose: () => double.close(), double };
  };
  for (const { name, run } of embedderContract(make)) it(name, run);

  it("asks a server of Text Embeddings Inference, with or without a key [000-5.2-huggingface]", async () => {
    const double = await teiDouble();
    const adapter = huggingfaceEmbedder({ apiBase: double.url, model });
    await adapter.embed(["send an email"], { kind: "tool" });
    expect(double.requests[0]).toMatchObject({
      path: "/embed",
      body: { inputs: ["send an email"], normalize: true, truncate: true },
    });
    expect(double.requests[0]?.headers).not.toHaveProperty("authorization");
    await double.close();
  });

  it("asks the hosted API with HF_TOKEN unless an address is given", async () => {
    const double = await teiDouble({ key: HF_KEY });
    const own = createEgress();
    const hosts: string[] = [];
    // The same request, led to the double.
    const egress: Egress = {
      ...own,
      request(url, options) {
        const { host, pathname } = new URL(url);
        hosts.push(host);
        return own.request(`${double.url}${pathname}`, options);
      },
    };
    const secrets = createSecrets({ environment: { HF_TOKEN: HF_KEY } });
    const adapter = huggingfaceEmbedder({ model }, { egress, secrets });
    expect(await adapter.embed(["send an email"], { kind: "tool" })).toHaveLength(1);
    expect(new Set(hosts)).toEqual(new Set(["router.huggingface.co"]));
    expect(double.requests[0]?.path).toBe(`/hf-inference/models/${model}/pipeline/feature-extraction`);
    own.close();
    await double.close();
  });

  it("says so if the model returns a vector for each token", async () => {
    const { adapter, double, dispose } = await make();
    double.answerNext({
      status: 200,
      body: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    });
    await expect(adapter.embed(["text"], { kind: "tool" })).rejects.toThrow("Choose a sentence embedding model");
    await dispose();
  });

  it("needs a model", () => {
    expect(() => huggingfaceEmbedder({})).toThrow("embedder.model is needed for huggingface.");
  });

  it("tells doctor whether it works, without the key", async () => {
    const { double, dispose } = await make();
    expect(await check({ apiKey: HF_KEY, apiBase: double.url, model })).toBe(`huggingface/${model}/384 answers`);
    const failure = String(await check({ apiKey: "hf_wrong0123456789", apiBase: double.url, model }).catch(String));
    expect(failure).toContain("Invalid credentials");
    expect(failure).not.toContain("hf_wrong0123456789");
    await dispose();
  });
});
