import { internalsOf } from "../../src/arsenal.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";
import { createHashingEmbedder } from "../../src/testing/index.ts";

/* A server with two models. The new one answers about tools once it is let go. */
const letGo = Promise.withResolvers<void>();
const hashing = createHashingEmbedder({ dimension: 64 });
const server = createServer((request, response) => void answer(request, response));

async function answer(...[request, response]: Parameters<Parameters<typeof createServer>[1] & object>): Promise<void> {
  const { model, input } = JSON.parse(await text(request)) as { model: string; input: readonly string[] };
  if (model === "new") await letGo.promise;
  const vectors = await hashing.embed(input, { kind: "tool" });
  const data = vectors.map((vector, index) => ({ object: "embedding", index, embedding: [...vector] }));
  response.setHeader("content-type", "application/json").end(JSON.stringify({ object: "list", model, data }));
}

beforeAll(() => new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening)));
afterAll(() => void server.closeAllConnections());

it("the embedder used until now answers while the one that replaces it learns the tools", async () => {
  const apiBase = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const common = { type: "openai_compatible", apiBase, dimension: 64 } as const;
  await using arsenal = new ToolArsenal({
    embedder: { ...common, model: "new", replaces: { ...common, model: "old" } },
  });
  for (const what of ["email", "invoice", "ticket", "calendar entry", "phone call"])
    await arsenal.addTool({
      name: `send_${what.replace(" ", "_")}`,
      description: `Sends a customer their ${what}.`,
      parameters: {},
    });
  const query = { context: { query: "send the customer their invoice" } };
  expect((await arsenal.retrieve(query)).tier).toBe("openai_compatible/old/64");
  letGo.resolve();
  expect(await internalsOf(arsenal).settled()).toEqual({ pending: 0 });
  expect((await arsenal.retrieve(query)).tier).toBe("openai_compatible/new/64");
});
