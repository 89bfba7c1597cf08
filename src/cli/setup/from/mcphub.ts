import { present } from "../../../base/present.ts";
import { asRecord, asRecords, asText, asTexts, isPlainObject } from "../../../tool/json-schema.ts";
import type { ServerEntry } from "../entry-styles.ts";
import {
  deniedTools,
  type FromKind,
  type Group,
  hasMember,
  type LeftOut,
  leftOutOf,
  leftOutOfEntry,
  type Reason,
  serversOf,
  toolId,
  toToolsets,
} from "./carried.ts";

const ROOT: Readonly<Record<string, Reason>> = {
  users: ["passwords and roles of MCPHub mean nothing here", "Give each person a key: toolarsenal keys create."],
  userConfigs: ["settings of single users have no counterpart", "Write a toolset for each person who needs one."],
  bearerKeys: ["keys are stored as hashes here", "Create new keys: toolarsenal keys create."],
  oauthClients: ["ToolArsenal is not an authorization server", "Name your identity provider under server: auth:."],
  oauthTokens: ["tokens belong to MCPHub", "Nothing to do: callers sign in again."],
};

const SYSTEM: Readonly<Record<string, Reason>> = {
  routing: [
    "every group has its own address, and keys decide who may call",
    "Create a key for each caller: toolarsenal keys create.",
  ],
  install: ["servers are started with your own npm and uv settings", "Set them in .npmrc or UV_DEFAULT_INDEX."],
  smartRouting: ["search needs no database and no model here", "Nothing to do: toolarsenal serve --mode dynamic."],
  mcpRouter: ["it is a service of its own", "Find servers with toolarsenal add."],
  nameSeparator: ["a tool is named server.tool, and clients see server_tool", "Nothing to do."],
  oauthServer: ["ToolArsenal is not an authorization server", "Name your identity provider under server: auth:."],
};

const SERVER: Readonly<Record<string, Reason>> = {
  owner: ["servers have no owner", "Limit who sees a server with a toolset's policy."],
  keepAliveInterval: ["connections are kept open without a setting", "Nothing to do."],
  prompts: ["single prompts cannot be switched off", "Limit them at the server itself."],
  resources: ["single resources cannot be switched off", "Limit them at the server itself."],
  proxy: ["programs are not started through proxychains", "Start the server as proxychains4 COMMAND."],
  visibility: ["a server is visible as the policy says", "Limit who sees a server with a toolset's policy."],
  sharedWithUsers: ["a server is visible as the policy says", "Limit who sees a server with a toolset's policy."],
};

const OAUTH: Reason = ["tokens and endpoints are found again", "Sign in once: toolarsenal login NAME."];

/** `mcp_settings.json` of MCPHub. */
export const mcphub: FromKind = {
  title: "MCPHub",
  isLike: (root) =>
    ["users", "groups", "systemConfig", "userConfigs", "bearerKeys", "oauthClients"].some(
      (key) => root[key] !== undefined,
    ) ||
    hasMember(root, ["owner", "openapi", "keepAliveInterval", "options"]) ||
    serversOf(root).entries.some(([, { tools }]) => isPlainObject(tools)),
  carry(root) {
    const { key, entries } = serversOf(root);
    const leftOut: LeftOut[] = [
      ...leftOutOf("", root, ROOT, (member) => [key, "groups", "systemConfig", "$schema"].includes(member)),
      ...leftOutOf("systemConfig", asRecord(root["systemConfig"]), SYSTEM),
    ];
    const servers: [string, ServerEntry][] = [];
    const denied: string[] = [];
    for (const [name, { tools, options, openapi, oauth, ...entry }] of entries) {
      const path = `${key}.${name}`;
      if (entry["type"] === "openapi" || openapi !== undefined) {
        leftOut.push(openApi(path, name, asRecord(openapi)));
        continue;
      }
      leftOut.push(...leftOutOfEntry(path, entry, SERVER));
      const { clientId, clientSecret, scopes, ...rest } = asRecord(oauth);
      leftOut.push(...Object.keys(rest).map((member) => leaveOAuth(`${path}.oauth.${member}`)));
      const { timeout, ...others } = asRecord(options);
      leftOut.push(...leftOutOf(`${path}.options`, others, {}));
      for (const [tool, settings] of Object.entries(asRecord(tools))) {
        const { enabled, description } = asRecord(settings);
        if (enabled === false) denied.push(...deniedTools(name, [tool]));
        if (description === undefined) continue;
        const reason = "descriptions come from the server";
        const instead = "Nothing to do, unless the model needs yours: wrap the server.";
        leftOut.push({ field: `${path}.tools.${tool}.description`, reason, instead });
      }
      const signIn = present({ clientId, clientSecret, scopes });
      const kept = present({
        timeout_ms: typeof timeout === "number" ? timeout : undefined,
        oauth: Object.keys(signIn).length === 0 ? undefined : signIn,
      });
      servers.push([name, { ...entry, ...kept }]);
    }
    const names = new Set(servers.map(([name]) => name));
    const groups = groupsOf(root["groups"]).map((group) => toGroup(group, names));
    return { servers: Object.fromEntries(servers), toolsets: toToolsets(groups), denied, leftOut };
  },
};

const leaveOAuth = (field: string): LeftOut => ({ field, reason: OAUTH[0], instead: OAUTH[1] });

function openApi(path: string, name: string, { url }: Readonly<Record<string, unknown>>): LeftOut {
  const reason = "an OpenAPI document is a source of its own here, with its own credentials";
  const source = asText(url) ?? "PATH";
  return { field: path, reason, instead: `Add openapi: [{ name: ${name}, document: ${source} }] to arsenal.yaml.` };
}

/** Groups are a list. Older documentation of MCPHub shows an object with groups by id. */
function groupsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(value)) return asRecords(value);
  return Object.entries(asRecord(value)).map(([id, group]) => ({ name: id, ...asRecord(group) }));
}

function toGroup(group: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): Group {
  const whole: string[] = [];
  const tools: string[] = [];
  for (const member of Array.isArray(group["servers"]) ? (group["servers"] as readonly unknown[]) : []) {
    const { name = member, tools: chosen } = asRecord(member);
    if (typeof name !== "string" || !known.has(name)) continue;
    if (Array.isArray(chosen)) tools.push(...asTexts(chosen).map((tool) => toolId(name, tool)));
    else whole.push(name);
  }
  const name = asText(group["name"]) ?? asText(group["id"]) ?? "group";
  const description = asText(group["description"]) ?? `The group ${name} of MCPHub.`;
  return { name, description, servers: whole, tools };
}
