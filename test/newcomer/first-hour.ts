import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { files, read } from "../repo/project.ts";
import { connectTo, SERVING, textOf } from "./client.ts";
import type { Place } from "./place.ts";
import { createShell } from "./shell.ts";

const SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

/** `serve` without any configuration: a call that needs a person waits, the person approves it on the command line, and it runs once. */
export async function approveOutOfTheBox({ shell }: Place): Promise<void> {
  const gateway = await shell.start("npx toolarsenal serve --port 0", SERVING);
  try {
    const client = await connectTo(gateway.printed);
    const found = textOf(
      await client.callTool({ name: "find_relevant_tools", arguments: { query: "refund order 1042" } }),
    );
    assert.match(found, /process_refund/);
    const refund = (): Promise<unknown> =>
      client.callTool({
        name: "execute_tool",
        arguments: { tool_name: "billing-process_refund", arguments: { order_id: "1042" } },
      });
    const waiting = textOf(await refund());
    const command = /toolarsenal approvals approve [\w-]+[^\n.`"]*/.exec(waiting)?.[0];
    assert.ok(command, `The answer names no command that approves the call:\n${waiting}`);
    assert.match(await shell.run("npx toolarsenal approvals list"), /process_refund/);
    await shell.run(`npx ${command}`);
    assert.match(textOf(await refund()), /refunded/);
    assert.match(textOf(await refund()), /approve/, "An approval is good for one call.");
    await client.close();
  } finally {
    await gateway.stop();
  }
}

const COMMAND_PAGES = ["README.md", "docs/start/tour.md"];

/** Every `npx toolarsenal` line of README and the tour works in a folder that `init` has filled; `setup` and `serve` have parts of their own here, and `benchmark` fails on a busy machine. */
export async function readmeCommands({ shell }: Place): Promise<void> {
  await shell.run("npx toolarsenal init");
  const lines = [
    ...COMMAND_PAGES.map(read)
      .join("\n")
      .matchAll(/^npx toolarsenal (?!setup|serve|init|benchmark)[^#\n]*/gm),
  ].map(([line]) => line.trim());
  assert.ok(lines.length >= 8, `README and the tour have only ${lines.length} commands.`);
  for (const line of lines) await shell.run(line);
}

/** Servers that worked in a client's configuration work after `setup`, and their secrets are no longer in a file others can read. */
export async function setUp({ folder: place, home, shell: { folder: installed }, node }: Place): Promise<void> {
  const folder = join(place, "set-up");
  mkdirSync(folder);
  const server = (name: string): string => join(installed, "node_modules/@modelcontextprotocol", name, "dist/index.js");
  mkdirSync(join(home, ".cursor"), { recursive: true });
  writeFileSync(
    join(home, ".cursor/mcp.json"),
    JSON.stringify({
      mcpServers: {
        memory: {
          command: "node",
          args: [server("server-memory")],
          env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl"), GITHUB_TOKEN: SECRET },
        },
        files: { command: "node", args: [server("server-filesystem"), folder] },
      },
    }),
  );
  const shell = createShell({
    folder,
    home,
    bin: [join(installed, "node_modules/.bin"), node],
  });
  await shell.run("toolarsenal setup --dry-run");
  await shell.run("toolarsenal setup");
  assert.ok(!readFileSync(join(folder, "arsenal.yaml"), "utf8").includes(SECRET));
  await shell.run("toolarsenal doctor");
  assert.match(await shell.run('toolarsenal search "remember that Anna likes tea"'), /memory\.\w+/);
}

/** The examples of the three SDKs, copied from the package, compile and run. */
export async function sdkLoops({ shell }: Place): Promise<void> {
  const agents = files("examples/*-agent.ts");
  assert.equal(agents.length, 3);
  await shell.run("cp -r node_modules/toolarsenal/examples .");
  writeFileSync(
    join(shell.folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2024",
        module: "nodenext",
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        allowImportingTsExtensions: true,
      },
      files: agents,
    }),
  );
  await shell.run("npx tsc");
  for (const path of agents) await shell.run(`node ${path}`);
}
