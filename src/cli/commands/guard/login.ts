import { wireUserTokens } from "../../../administration/user-tokens.ts";
import { connectionRecord } from "../../../administration/connections.ts";
import { configuredCallAudit } from "../../../wire/call-audit.ts";
import { configuredAudit } from "../../../wire/parts.ts";
import { configuredState } from "../../../wire/state.ts";
import { configuredEgress, createSurroundings } from "../../../wire/surroundings.ts";
import type { ResolvedConfig } from "../../../config/load/resolve-config.ts";
import type { Account } from "../../../adapters/sources/mcp/oauth/user-tokens.ts";
import { signsInCallers, type WrittenMcpServer } from "../../../adapters/sources/mcp/settings.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import { nearest } from "../../../errors/show-value.ts";
import type { ConnectionRecord } from "../../../guard/audit.port.ts";
import { localOperator } from "../../../guard/principal.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import type { Emit, EventMap } from "../../../observe/events.ts";
import type { Command, Terminal } from "../../command.ts";
import { configFiles, loadConfigured, MCP_CONFIG } from "../../arsenal/open-arsenal.ts";
import { wrongInput } from "../../input.ts";
import { styles } from "../../terminal/style.ts";

export const command: Command = {
  positionals: ["NAME"],
  options: {
    "mcp-config": MCP_CONFIG["mcp-config"],
    user: { value: "ID", description: "The caller to sign in, if each caller signs in", fallback: "local" },
    tenant: { value: "NAME", description: "The tenant of the caller" },
    gateway: { description: "Sign in the gateway itself, even if each caller signs in" },
    out: { description: "Sign the caller out and delete the tokens" },
  },
  examples: ["login github", "login github --user ann", "login github --user ann --out"],
  async run(input, terminal) {
    const asked = input.positionals[0] ?? "";
    const { sources, config, problems } = await loadConfigured(configFiles(input, terminal), terminal);
    const { readServer } = await import("../../../adapters/sources/mcp/read-settings.ts");
    const servers = sources.filter(({ settings }) => settings.type === "mcp");
    const server = servers.find(({ name, writtenAs }) => name === asked || writtenAs === asked);
    const invalid = problems.find((each) => each.server === asked);
    if (server === undefined && invalid !== undefined)
      throw fixable(
        "CONFIG_INVALID",
        `The settings of the MCP server "${asked}" are invalid: ${invalid.field} ${invalid.message}.`,
        invalid.fix,
        { field: `${asked}.${invalid.field}`, ...("value" in invalid && { value: invalid.value }) },
      );
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
    if ("message" in read)
      throw wrongInput(
        "NAME",
        asked,
        `The settings of the MCP server "${name}" are invalid: ${read.field} ${read.message}.`,
        read.fix,
      );
    const { transport } = read;
    if (transport.kind === "stdio" || transport.kind === "websocket") {
      const problem = `${name} uses ${transport.kind}, which has no sign-in.`;
      throw wrongInput("NAME", asked, problem, "Set its credentials under env or headers.");
    }
    const paint = styles(terminal.err, terminal.environment);
    const { authorize } = await import("../../../adapters/sources/mcp/oauth/authorize.ts");
    const { createCredentials } = await import("../../../adapters/sources/mcp/connection/credentials.ts");
    const { oauth = {}, url: serverUrl } = transport;
    if (oauth.grant === "id_jag") {
      const problem = `${name} gets its tokens from the identity provider ${oauth.identity?.issuer}: there is no sign-in.`;
      throw wrongInput("NAME", asked, problem, "Set oauth.identity.token.");
    }
    const isOwn = !signsInCallers(oauth) || input.flags.has("gateway");
    if (isOwn && (input.flags.has("out") || input.options["user"] !== undefined)) {
      const fix = "Set oauth.account: user, or leave out --user and --out.";
      throw wrongInput("NAME", asked, `One login of ${name} serves every caller.`, fix);
    }
    const tenant = input.options["tenant"];
    const account = { id: input.options["user"] ?? "local", ...(tenant !== undefined && { tenant }) };
    const kept = isOwn ? undefined : keptTokens(config, terminal);
    const say = (signedIn: boolean, done: string): void =>
      void terminal.out.write(input.json ? `${JSON.stringify({ server: name, signedIn })}\n` : `${done}\n`);
    if (kept !== undefined && input.flags.has("out")) {
      await kept.tokens.forget(account, serverUrl);
      await kept.record("signed-out", name, account);
      await kept.close();
      return say(false, `Signed ${account.id} out of ${name}. A running gateway stops using the tokens at once.`);
    }
    // The grant of a program is for the gateway itself.
    await authorize(isOwn ? oauth : { ...oauth, grant: "authorization_code" }, {
      ...(kept && { tokenStore: kept.tokens.of(account) }),
      serverName: name,
      serverUrl,
      ...(transport.headers === undefined ? {} : { headers: transport.headers }),
      egress: configuredEgress(config, terminal.environment),
      credentials: createCredentials(name, { secrets: createSecrets({ environment: terminal.environment }) }),
      signal: terminal.signal,
      showUrl: (url) => void terminal.err.write(`Open this address in a browser and sign in:\n  ${paint.cyan(url)}\n`),
    });
    await kept?.tokens.signedIn(account, serverUrl);
    await kept?.record("signed-in", name, account);
    await kept?.close();
    const who = isOwn ? "Signed in" : `Signed ${account.id} in`;
    say(true, `${who} to ${name}. A running gateway uses this sign-in from now on.`);
  },
};

/** The callers' tokens in the configured state, and the audit log. */
function keptTokens(config: ResolvedConfig, { environment, err }: Terminal) {
  const surroundings = createSurroundings(config, { environment });
  const state = configuredState(config, surroundings);
  const log = configuredAudit(config, surroundings);
  const emit: Emit = (name, data) => {
    if (name === "audit-failed") err.write(`Not recorded: ${(data as EventMap["audit-failed"]).message}\n`);
  };
  const audit = log && configuredCallAudit(config, log, { ...surroundings, emit });
  return {
    tokens: wireUserTokens({ ...surroundings, config, state }),
    async record(outcome: ConnectionRecord["outcome"], server: string, account: Account): Promise<void> {
      await audit?.record({ ...connectionRecord(outcome, server, account), by: localOperator().id });
    },
    async close(): Promise<void> {
      await audit?.close();
      await log?.close();
      await state.close();
    },
  };
}
