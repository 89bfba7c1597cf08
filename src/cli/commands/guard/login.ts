import { configuredEgress } from "../../../wire/surroundings.ts";
import type { WrittenMcpServer } from "../../../adapters/sources/mcp/settings.ts";
import { nearest } from "../../../errors/show-value.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import type { Command } from "../../command.ts";
import { configFiles, loadConfigured, MCP_CONFIG } from "../../arsenal/open-arsenal.ts";
import { wrongInput } from "../../input.ts";
import { styles } from "../../terminal/style.ts";

export const command: Command = {
  positionals: ["NAME"],
  options: { "mcp-config": MCP_CONFIG["mcp-config"] },
  examples: ["login github"],
  async run(input, terminal) {
    const asked = input.positionals[0] ?? "";
    const { sources, config } = await loadConfigured(configFiles(input, terminal), terminal);
    const { readServer } = await import("../../../adapters/sources/mcp/read-settings.ts");
    const servers = sources.filter(({ settings }) => settings.type === "mcp");
    const server = servers.find(({ name, writtenAs }) => name === asked || writtenAs === asked);
    if (server === undefined) {
      const names = servers.map(({ name }) => name);
      const near = nearest(asked, names);
      const fix =
        near !== undefined
          ? `Did you mean "${near}"?`
          : names.length === 0
            ? "Add it to arsenal.yaml, or pass its file with --mcp-config."
            : `Configured servers: ${names.join(", ")}.`;
      throw wrongInput("NAME", asked, `No MCP server is named "${asked}".`, fix);
    }
    const { name } = server;
    const read = readServer({ ...server.settings, type: undefined } as unknown as WrittenMcpServer);
    if ("message" in read) throw wrongInput("NAME", asked, `${read.field} ${read.message}.`, read.fix);
    const { transport } = read;
    if (transport.kind === "stdio" || transport.kind === "websocket") {
      const problem = `${name} uses ${transport.kind}, which has no sign-in.`;
      throw wrongInput("NAME", asked, problem, "Set its credentials under env or headers.");
    }
    const paint = styles(terminal.err, terminal.environment);
    const { authorize } = await import("../../../adapters/sources/mcp/oauth/authorize.ts");
    const { createCredentials } = await import("../../../adapters/sources/mcp/connection/credentials.ts");
    await authorize(transport.oauth ?? {}, {
      serverName: name,
      serverUrl: transport.url,
      ...(transport.headers === undefined ? {} : { headers: transport.headers }),
      egress: configuredEgress(config, terminal.environment),
      credentials: createCredentials(name, { secrets: createSecrets({ environment: terminal.environment }) }),
      signal: terminal.signal,
      showUrl: (url) => void terminal.err.write(`Open this address in a browser and sign in:\n  ${paint.cyan(url)}\n`),
    });
    const done = `Signed in to ${name}. A running gateway uses this sign-in from now on.`;
    terminal.out.write(input.json ? `${JSON.stringify({ server: name, signedIn: true })}\n` : `${done}\n`);
  },
};
