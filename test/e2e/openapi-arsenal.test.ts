import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { ToolArsenal } from "../../src/index.ts";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function serve(): Promise<string> {
  const server = createServer((request, response) => response.end(`asked for ${request.url}`));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  endings.push(() => new Promise((resolve) => void server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1.0.0" },
  paths: {
    "/pets/{id}": {
      get: {
        operationId: "getPet",
        summary: "Shows a pet.",
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
        responses: { "200": { description: "The pet." } },
      },
    },
  },
};

it("adds the operations of a document as tools [000-14-add-openapi]", async () => {
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false } });
  expect(await arsenal.add({ type: "openapi", name: "pets", document: DOCUMENT, server: await serve() })).toBe(1);
  const { result } = await arsenal.execute({ toolName: "pets.get_pet", arguments: { id: "7" } });
  expect(result).toBe("asked for /pets/7");
});

it("sends nothing to a domain that the configuration does not allow", async () => {
  const security = { allowedDomains: ["api.example.com"] };
  await using arsenal = new ToolArsenal({ telemetry: { enabled: false }, security });
  await arsenal.add({ type: "openapi", name: "pets", document: DOCUMENT, server: await serve() });
  const { status, error } = await arsenal.execute({ toolName: "pets.get_pet", arguments: { id: 7 } });
  expect([status, error?.code]).toEqual(["permission_denied", "PERMISSION_DENIED"]);
  expect(error?.message).toContain("is not among the allowed domains");
});
