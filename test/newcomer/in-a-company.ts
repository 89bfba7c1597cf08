import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { ROOT } from "../repo/project.ts";
import { connectTo, SERVING, textOf } from "./client.ts";
import { startCompanyNetwork } from "./company-network.ts";
import { type Place, versionOf } from "./place.ts";
import { createShell } from "./shell.ts";

/**
 * A company whose proxy opens every TLS connection, with a registry and a server that only the proxy can reach: the package installs,
 * and `setup`, `doctor` and `serve` work with a server that npx fetches and with one behind HTTPS.
 */
export async function inACompany({ folder: place, tarball, node }: Place): Promise<void> {
  const [home, folder] = [join(place, "company-home"), join(place, "company")];
  for (const made of [home, folder]) mkdirSync(made);
  const outside = createShell({ folder, home, bin: [node] });
  const registry = (await outside.run("npm config get registry")).trim();
  const everything = join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const port = await freePort();
  const server = await outside.start(`env PORT=${port} node ${everything} streamableHttp`, /listening/i);
  const network = await startCompanyNetwork(place, { registry, tools: `http://127.0.0.1:${port}/` });
  const shell = createShell({ folder, home, bin: [join(folder, "node_modules/.bin"), node], env: network.env });
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await shell.run(`npm install --no-audit --no-fund ${tarball}`);
    const memory = `@modelcontextprotocol/server-memory@${versionOf("@modelcontextprotocol/server-memory")}`;
    mkdirSync(join(home, ".cursor"));
    writeFileSync(
      join(home, ".cursor/mcp.json"),
      JSON.stringify({
        mcpServers: {
          memory: { command: "npx", args: ["-y", memory], env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } },
          everything: { url: "https://tools.company.example/mcp" },
        },
      }),
    );
    await shell.run("toolarsenal setup");
    const healthy = await shell.run("toolarsenal doctor");
    assert.match(healthy, /network: https:\/\/ through \S+ \(HTTPS_PROXY\)/);
    assert.match(healthy, /memory: connected[^]*everything: connected/);
    const untrusted = await shell.run("env -u NODE_EXTRA_CA_CERTS toolarsenal doctor", { code: 1 });
    assert.match(untrusted, /failed +everything: [^]*egress\.ca_file/);
    const gateway = await shell.start("toolarsenal serve --port 0", SERVING);
    try {
      const client = await connectTo(gateway.printed);
      const call = async (tool_name: string, args: object): Promise<string> =>
        textOf(await client.callTool({ name: "execute_tool", arguments: { tool_name, arguments: args } }));
      assert.match(await call("everything-echo", { message: "through the proxy" }), /through the proxy/);
      assert.match(await call("memory-read_graph", {}), /entities/);
      await client.close();
    } finally {
      await gateway.stop();
    }
    console.log(
      `           reached through the proxy: ${[...network.reached].map(([host, count]) => `${host} ${count}`).join(", ")}`,
    );
    assert.deepEqual([...network.reached.keys()].sort(), ["registry.company.example", "tools.company.example"]);
  } finally {
    network.close();
    await server.stop();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
