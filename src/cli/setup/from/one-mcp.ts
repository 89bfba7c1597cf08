import { present } from "../../../base/present.ts";
import { asRecord, asTexts } from "../../../tool/json-schema.ts";
import type { ServerEntry } from "../entry-styles.ts";
import { mapTexts } from "../map-texts.ts";
import {
  deniedTools,
  type FromKind,
  hasMember,
  type LeftOut,
  leftOutOf,
  leftOutOfEntry,
  type Reason,
  serversOf,
  toToolsets,
} from "./carried.ts";

const RESTARTS: Reason = ["a program that ends is restarted, with growing pauses", "Nothing to do."];
const ENVIRONMENT: Reason = [
  "a program gets only PATH, HOME, the locale and what its entry names",
  "Name each further variable under env: NAME: ${NAME}.",
];

const REASONS: Readonly<Record<string, Reason>> = {
  inheritParentEnv: ENVIRONMENT,
  envFilter: ENVIRONMENT,
  restartOnExit: RESTARTS,
  maxRestarts: RESTARTS,
  restartDelay: RESTARTS,
  stderr: ["what a server prints to stderr is in the gateway's log", "Nothing to do."],
  template: ["a server has one instance for all callers", "Nothing to do, unless each caller needs one."],
  instructionOverride: ["instructions come from the server", "Write them into your agent's system prompt."],
  toolDescriptionOverrides: ["descriptions come from the server", "Nothing to do, unless the model needs yours."],
};

const ROOT: Readonly<Record<string, Reason>> = {
  mcpTemplates: [
    "templates are filled in for each project and client",
    "Write each server that you need under mcpServers, with its values.",
  ],
  version: ["it is the version of 1MCP's format", "Nothing to do."],
};

/** Members of servers that only 1MCP has. */
const MEMBERS: readonly string[] = [
  ...Object.keys(REASONS),
  "tags",
  "disabledTools",
  "connectionTimeout",
  "requestTimeout",
];

/** `mcp.json` of 1MCP. */
export const oneMcp: FromKind = {
  title: "1MCP",
  isLike: (root) =>
    ["serverDefaults", "mcpTemplates"].some((key) => root[key] !== undefined) ||
    String(root["$schema"]).includes("1mcp") ||
    hasMember(root, MEMBERS) ||
    serversOf(root).entries.some(([, { env }]) => Array.isArray(env)),
  carry(root) {
    const { key, entries } = serversOf(root);
    const carriedKeys = [key, "serverDefaults", "$schema"];
    const leftOut: LeftOut[] = [...leftOutOf("", root, ROOT, (member) => carriedKeys.includes(member))];
    const denied: string[] = [];
    const tags = new Map<string, string[]>();
    const servers = entries.map(([name, given]) => {
      const path = `${key}.${name}`;
      const {
        tags: own,
        disabledTools,
        requestTimeout,
        connectionTimeout,
        timeout,
        oauth,
        disabled,
        ...entry
      } = withDefaults(given, asRecord(root["serverDefaults"]));
      leftOut.push(...leftOutOfEntry(path, entry, REASONS));
      denied.push(...deniedTools(name, disabledTools));
      for (const tag of asTexts(own)) tags.set(tag, [...(tags.get(tag) ?? []), name]);
      if (typeof disabled === "string") {
        const reason = "it is a template, which depends on the project";
        leftOut.push({
          field: `${path}.disabled`,
          reason,
          instead: "Write disabled: true if the server is not wanted.",
        });
      }
      const { clientId, clientSecret, scopes, ...rest } = asRecord(oauth);
      const signIn = present({ clientId, clientSecret, scopes });
      leftOut.push(
        ...leftOutOf(`${path}.oauth`, rest, {
          autoRegister: ["a client is registered if the server allows it", "Nothing to do."],
          redirectUrl: ["the redirect address is on this machine", "Set oauth.redirectPort if it is registered."],
        }),
      );
      const kept = present({
        ...(Array.isArray(entry["env"]) && { env: listedVariables(asTexts(entry["env"])) }),
        timeout_ms: whole(requestTimeout) ?? whole(timeout),
        connect_timeout_ms: whole(connectionTimeout) ?? whole(timeout),
        oauth: Object.keys(signIn).length === 0 ? undefined : signIn,
        disabled: typeof disabled === "boolean" ? disabled : undefined,
      });
      return [name, mapTexts({ ...entry, ...kept }, braced) as ServerEntry] as const;
    });
    const groups = [...tags].map(([name, members]) => {
      return { name, description: `Servers with the tag ${name}.`, servers: members, tools: [] };
    });
    return { servers: Object.fromEntries(servers), toolsets: toToolsets(groups), denied, leftOut };
  },
};

/** Writes `$NAME` as `${NAME}`. Lowercase names stay, because they are more likely part of a password, which 1MCP would not expand. */
const braced = (text: string): string => text.replaceAll(/\$([A-Z_][A-Z0-9_]*)(?![a-z])/g, "${$1}");

const whole = (value: unknown): number | undefined =>
  typeof value === "number" && value > 0 ? Math.ceil(value) : undefined;

/** Applies the shared settings like 1MCP: variables are merged, and other members are inherited if missing. */
function withDefaults(entry: ServerEntry, defaults: Readonly<Record<string, unknown>>): ServerEntry {
  const isProgram = entry["command"] !== undefined;
  const programOnly = ["inheritParentEnv", "envFilter", "restartOnExit", "maxRestarts", "restartDelay"];
  const inherited = Object.entries(defaults).filter(([key]) =>
    isProgram ? key !== "headers" : key !== "env" && !programOnly.includes(key),
  );
  const merged = { ...Object.fromEntries(inherited), ...entry };
  const [shared, own] = [defaults["env"], entry["env"]];
  if (!isProgram || shared === undefined || own === undefined || (Array.isArray(shared) && Array.isArray(own)))
    return merged;
  return { ...merged, env: { ...variables(shared), ...variables(own) } };
}

const variables = (value: unknown): Readonly<Record<string, unknown>> =>
  Array.isArray(value) ? listedVariables(asTexts(value)) : asRecord(value);

/** Parses a list of variables: `NAME=value`, or `NAME` for the gateway's own variable. */
function listedVariables(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = "", value] = /^([^=]*)(?:=(.*))?$/s.exec(line) ?? [];
      return [name.trim(), value ?? `\${${name.trim()}}`];
    }),
  );
}
