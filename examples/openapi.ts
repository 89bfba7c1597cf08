import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { ToolArsenal } from "toolarsenal";

// The API that the document describes: it answers with what it was asked.
const api = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({ asked: `${request.method} ${request.url} ${body}`.trim(), key: request.headers["x-pet-key"] }),
  );
});
await new Promise<void>((resolve) => void api.listen(0, "127.0.0.1", resolve));

const arsenal = new ToolArsenal({ telemetry: { enabled: false } });
const count = await arsenal.add({
  type: "openapi",
  name: "pets",
  document: fileURLToPath(new URL("pets.yaml", import.meta.url)),
  server: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
  credentials: { petKey: () => "from-a-vault" }, // or "env:PET_KEY"; never the key itself
});
console.log(count, (await arsenal.listTools()).map(({ id }) => id).join(" ")); // prints: 2 pets.list_pets pets.rename_pet

const listed = await arsenal.execute({ toolName: "pets.list_pets", arguments: { kind: ["cat", "dog"] } });
console.log(JSON.stringify(listed.result)); // prints: {"asked":"GET /pets?kind=cat,dog","key":"from-a-vault"}

const renamed = await arsenal.execute({ toolName: "pets.rename_pet", arguments: { id: 7, name: "Rex" } });
assert.deepEqual(renamed.result, { asked: 'PUT /pets/7 {"name":"Rex"}', key: "from-a-vault" });

const refused = await arsenal.execute({ toolName: "pets.rename_pet", arguments: { id: "seven", name: "Rex" } });
assert.equal(refused.error?.code, "ARGUMENTS_INVALID"); // checked before anything is sent

await arsenal.close();
api.close();
