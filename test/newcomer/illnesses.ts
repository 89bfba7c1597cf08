import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { Place } from "./place.ts";
import { createShell } from "./shell.ts";

/** An API whose operations need a key. */
const API = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  servers: [{ url: "https://pets.example.com" }],
  security: [{ petKey: [] }],
  paths: {
    "/pets": { get: { operationId: "list_pets", summary: "List the pets", responses: { "200": { description: "" } } } },
  },
  components: { securitySchemes: { petKey: { type: "apiKey", in: "header", name: "X-Pet-Key" } } },
};

/** `doctor` fails, with a fix, in every state in which `serve`, the audit log or an ordinary call would fail. */
export async function illnesses({ folder: place, home, shell: { folder: installed }, node }: Place): Promise<void> {
  const folder = join(place, "ill");
  mkdirSync(folder);
  const shell = createShell({ folder, home, bin: [join(installed, "node_modules/.bin"), node] });
  const put = (name: string, content: object): void => writeFileSync(join(folder, name), JSON.stringify(content));
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;

  put("rules.json", { version: 1, rules: [{ id: "own", effect: "deny", when: "principal.tennant != 'acme'" }] });
  put("pets.json", API);
  writeFileSync(join(folder, "a-file"), "");
  const states: readonly (readonly [config: object, line: RegExp, serves: boolean])[] = [
    [{ server: { port } }, /failed +server: Port \d+ .*another program listens there/, false],
    [{ server: { port: 0, host: "0.0.0.0" } }, /failed +\S+: Listening on 0\.0\.0\.0 lets other machines/, false],
    [{ server: { port: 0 }, audit: { file: "a-file/audit.jsonl" } }, /failed +audit: /, true],
    [{ server: { port: 0 }, openapi: [{ name: "pets", document: "./pets.json" }] }, /failed +pets: .*petKey/, true],
    [{ server: { port: 0 }, security: { policy_file: "rules.json" } }, /failed +rule own: .*principal\.tennant/, true],
  ];
  try {
    for (const [config, line, serves] of states) {
      put("arsenal.yaml", config);
      const printed = await shell.run("toolarsenal doctor", { code: 1 });
      assert.match(printed, line);
      const [, fix = ""] = /^failed.*\n(?: {9}(.*))?/m.exec(printed) ?? [];
      assert.notEqual(fix, "", `A failure without a fix:\n${printed}`);
      if (!serves) await shell.run("toolarsenal serve", { code: 2 });
    }
  } finally {
    taken.close();
  }
}
