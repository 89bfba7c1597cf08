import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectTo, SERVING, textOf } from "./client.ts";
import type { Place } from "./place.ts";
import { createShell } from "./shell.ts";

/**
 * A gateway in strict mode for several people: what a server offers runs once it was accepted, a fresh key finds nothing that it may not call, more
 * rights reach the running gateway, and an operator sees the whole catalog with the rule that refuses a tool.
 */
export async function asATeam({ folder: place, home, shell: { folder: installed }, node }: Place): Promise<void> {
  const folder = join(place, "team");
  mkdirSync(join(folder, "work"), { recursive: true });
  writeFileSync(join(folder, "work/note.txt"), "hello");
  const server = join(installed, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
  const config = {
    server: { port: 0, auth: { api_keys: { file: "keys.json" } } },
    state: { file: "state.sqlite" },
    audit: { file: "audit.jsonl" },
    security: { policy: "strict", allow: ["files.list_directory"] },
    mcpServers: { files: { command: "node", args: [server, join(folder, "work")] } },
  };
  writeFileSync(join(folder, "arsenal.yaml"), JSON.stringify(config));
  const shell = createShell({ folder, home, bin: [join(installed, "node_modules/.bin"), node] });

  const key = (await shell.run("toolarsenal keys create ci")).trim();
  const operator = (await shell.run("toolarsenal keys create ada --operator")).trim();
  assert.match(await shell.run("toolarsenal doctor"), /pins: 1 of 1 wait for you/);
  await shell.run("toolarsenal pins accept --all");
  assert.match(await shell.run("toolarsenal doctor"), /pins: 14 of 15 wait for you/);
  await shell.run("toolarsenal pins accept --all");
  assert.doesNotMatch(await shell.run("toolarsenal doctor"), /^(?:warning|failed)/m);

  const gateway = await shell.start("toolarsenal serve", SERVING);
  try {
    const caller = await connectTo(gateway.printed, key);
    const call = async (name: string, args: object): Promise<string> =>
      textOf(await caller.callTool({ name, arguments: { ...args } }));
    const list = { tool_name: "files-list_directory", arguments: { path: join(folder, "work") } };
    assert.doesNotMatch(await call("find_relevant_tools", { query: "list a directory" }), /list_directory/);
    assert.match(await call("execute_tool", list), /lacks the capabilities/);

    assert.match(await shell.run("toolarsenal keys grant ci --capability all 2>&1"), /may call 1 of the 14 tools/);
    const deadline = Date.now() + 10_000;
    let found = "";
    while (!found.includes("list_directory") && Date.now() < deadline)
      found = await call("find_relevant_tools", { query: "list a directory" });
    assert.doesNotMatch(found, /write_file|move_file/);
    assert.match(await call("execute_tool", list), /note\.txt/);
    await caller.close();

    const [address = ""] = SERVING.exec(gateway.printed) ?? [];
    const answer = await fetch(new URL("/api/v1/tools?includeRefused=true", address), {
      headers: { authorization: `Bearer ${operator}` },
    });
    const { tools } = (await answer.json()) as { readonly tools: readonly { readonly refused?: { rule: string } }[] };
    assert.deepEqual([tools.length, tools.filter(({ refused }) => refused !== undefined).length], [14, 13]);
    assert.deepEqual(
      new Set(tools.flatMap(({ refused }) => refused?.rule ?? [])),
      new Set(["security.policy: strict"]),
    );
  } finally {
    await gateway.stop();
  }
  assert.match(await shell.run("toolarsenal audit verify"), /\d+ records/);
}
