/**
 * The client that the official conformance suite drives: `node test/conformance/client.ts SERVER_URL`, with the scenario's name and data in
 * the environment. It uses the MCP source as the gateway does, and plays the person who logs in and answers questions. It exits 1 where
 * something failed.
 */
import { isArsenalError } from "../../src/errors/arsenal-error.ts";
import type { Ask } from "../../src/mcp/connection.ts";
import { mcpSource, type McpSource } from "../../src/adapters/sources/mcp/mcp.ts";
import { authorize } from "../../src/adapters/sources/mcp/oauth/authorize.ts";
import { createOAuthProvider } from "../../src/adapters/sources/mcp/oauth/provider.ts";
import { createTokenMemory } from "../../src/adapters/sources/mcp/oauth/credentials.ts";
import type { JsonObject } from "../../src/mcp/protocol.ts";
import type { OAuthSettings } from "../../src/adapters/sources/mcp/settings.ts";
import { createEgress } from "../../src/guard/egress/egress.ts";
import type { OfferedTool } from "../../src/register/source.port.ts";
import type { HandlerContext } from "../../src/tool/handler.ts";
import { visit } from "../e2e/protected-server.ts";

/** What the suite hands a scenario. */
interface ScenarioData {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly idp_client_id?: string;
  readonly idp_id_token?: string;
  readonly idp_issuer?: string;
  readonly idp_token_endpoint?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const data = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as ScenarioData;
const url = process.argv[2] ?? "";
const signal = AbortSignal.timeout(25_000);

/** A server that still asks for a login after this many is given up on. */
const LOGINS = 2;

const { idp_issuer: issuer, idp_client_id: clientId, idp_id_token: token, idp_token_endpoint: tokenUrl } = data;
const oauth: OAuthSettings = {
  ...(issuer !== undefined && clientId !== undefined && token !== undefined
    ? { grant: "id_jag", identity: { issuer, clientId, token, ...(tokenUrl !== undefined && { tokenUrl }) } }
    : {}),
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  ...(data.client_id === undefined ? {} : { clientId: data.client_id }),
  ...(data.client_secret === undefined ? {} : { clientSecret: data.client_secret }),
  ...(data.private_key_pem === undefined ? {} : { privateKey: data.private_key_pem }),
  ...(data.signing_algorithm === undefined ? {} : { privateKeyAlgorithm: data.signing_algorithm }),
  ...(scenario.startsWith("auth/client-credentials-") ? { grant: "client_credentials" } : {}),
};
/** The suite's authorization servers are on this machine, at other ports than its MCP servers. */
const egress = createEgress({ allowPrivate: true });
const person = {
  serverName: "conformance",
  serverUrl: url,
  egress,
  tokenStore: createTokenMemory(),
  showUrl: (address: string) => void visit(address).catch(() => {}),
};
const provider = createOAuthProvider(oauth, person);

/** Does something, logging in and doing it again where the server asks for that. */
async function withLogin<Result>(task: () => Promise<Result>): Promise<Result> {
  for (let logins = 0; ; logins++) {
    try {
      return await task();
    } catch (error) {
      const fixed = isArsenalError(error) && error.details.fix?.startsWith("Run: toolarsenal login") === true;
      if (!fixed || logins === LOGINS) throw error;
      await authorize(oauth, { ...person, signal });
    }
  }
}

async function connect(): Promise<McpSource> {
  const source = mcpSource({ name: "conformance", transport: { kind: "http", url } }, { oauth: provider, egress });
  try {
    await source.connect({ signal });
    return source;
  } catch (error) {
    await source.disconnect();
    throw error;
  }
}

/** Answers as somebody does who leaves every form as it is. */
const acceptDefaults: Ask = (_method, params) => {
  const { properties = {} } = (params?.["requestedSchema"] ?? {}) as { properties?: Record<string, JsonObject> };
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  );
  return Promise.resolve({ action: "accept", content: Object.fromEntries(defaults) as JsonObject });
};

function call({ draft, handler }: OfferedTool, args: JsonObject): unknown {
  const context = { signal, tool: draft, request: { source: "mcp", ask: acceptDefaults } };
  return handler?.(args, context as unknown as HandlerContext);
}

/** The calls that the scenario names, or one of each tool. */
function callsFor(tools: readonly OfferedTool[]): readonly { readonly tool: OfferedTool; readonly args: JsonObject }[] {
  const named = (name: string): readonly OfferedTool[] => tools.filter(({ draft }) => draft.sourceName === name);
  switch (scenario) {
    case "http-custom-headers":
      return (data.toolCalls ?? []).flatMap((given) =>
        named(given.name).map((tool) => ({ tool, args: given.arguments })),
      );
    case "json-schema-2020-12-preservation": {
      const schema = named("json_schema_2020_12_tool")[0]?.draft.parameters;
      return named("json_schema_echo").map((tool) => ({ tool, args: { schema } }));
    }
    // Its server lists a tool and has none to call.
    case "json-schema-ref-no-deref":
      return [];
    default:
      return tools.map((tool) => ({ tool, args: { a: 5, b: 3, region: "us-west1" } }));
  }
}

const source = await withLogin(connect);
try {
  const tools = await withLogin(() => source.list({ signal }));
  for (const { tool, args } of callsFor(tools)) await withLogin(async () => call(tool, args));
  for (const { uri } of await source.upstream.list("resources"))
    await source.upstream.request("resources/read", { uri });
  for (const { name } of await source.upstream.list("prompts")) await source.upstream.request("prompts/get", { name });
} finally {
  await source.disconnect();
}
