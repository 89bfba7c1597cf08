import { inputVariable } from "../../../config/clients/client-references.ts";
import { looksSecret } from "../../../guard/secrets/looks-secret.ts";
import { asRecord } from "../../../tool/json-schema.ts";
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
} from "./carried.ts";

const RESOURCES: Reason = ["single resources cannot be switched off", "Limit them at the server itself."];

const REASONS: Readonly<Record<string, Reason>> = {
  dev: ["servers are not restarted when their files change", "Restart the gateway after you change the server."],
  custom_instructions: ["instructions come from the server", "Write the instructions into your agent's system prompt."],
  disabled_resources: RESOURCES,
  disabled_resourceTemplates: RESOURCES,
  disabled_prompts: ["single prompts cannot be switched off", "Limit them at the server itself."],
  config_source: ["mcp-hub adds it while it runs", "Nothing to do."],
};

const ROOT: Readonly<Record<string, Reason>> = {
  nativeMCPServers: ["these are Lua servers that run inside Neovim", "Keep them in mcphub.nvim."],
};

const VARIABLE = /\$\{(?:env:)?(\w+)\}/g;
const COMMAND = /\$\{cmd:\s*([^}]*)\}/g;

/** The file of mcp-hub, which mcphub.nvim also uses. */
export const mcpHub: FromKind = {
  title: "mcp-hub",
  isLike: (root) =>
    root["nativeMCPServers"] !== undefined ||
    hasMember(root, ["dev", "disabled_tools", "disabled_resources", "custom_instructions", "config_source"]) ||
    JSON.stringify(root).search(COMMAND) !== -1,
  carry(root) {
    const { key, entries } = serversOf(root);
    const leftOut: LeftOut[] = [
      ...leftOutOf("", root, ROOT, (member) => ["mcpServers", "servers", "inputs", "$schema"].includes(member)),
    ];
    const servers = entries.map(([name, { disabled_tools: _tools, ...entry }]) => {
      leftOut.push(...leftOutOfEntry(`${key}.${name}`, entry, REASONS));
      const report = (field: string, command: string): void => {
        const reason = `its value is the output of the command ${command.trim()}, and setup runs no commands`;
        const instead = "Run the command and write its output into the env file that is listed below.";
        leftOut.push({ field: `${key}.${name}.${field}`, reason, instead });
      };
      return [name, withReferences(name, entry, report)] as const;
    });
    return {
      servers: Object.fromEntries(servers),
      toolsets: [],
      denied: entries.flatMap(([name, entry]) => deniedTools(name, entry["disabled_tools"])),
      leftOut,
    };
  },
};

/** Converts mcp-hub's placeholders. Values that come from a command's output are reported, and the user must write them to the env file. */
function withReferences(
  server: string,
  entry: ServerEntry,
  report: (field: string, command: string) => void,
): ServerEntry {
  const given = asRecord(entry["env"]);
  // An empty value means the variable with the same name.
  const env = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === null || value === "" ? `\${${name}}` : value]),
  );
  /** Returns a value of `env` that another text refers to. Secrets go to the env file, where references find them. */
  const own = (name: string, seen: readonly string[]): string | undefined => {
    const value = env[name];
    if (typeof value !== "string" || seen.includes(name)) return undefined;
    if (!value.includes("${") && looksSecret(name, value)) return undefined;
    return value.replaceAll(VARIABLE, (whole, other: string) => own(other, [...seen, name]) ?? whole);
  };
  const rewrite = (field: string, text: string): string => {
    const variable = field.startsWith("env.") ? field.slice(4) : inputVariable(`${server}_${field}`);
    return text
      .replaceAll(COMMAND, (_, command: string) => {
        report(field, command);
        return `\${input:${variable}}`;
      })
      .replaceAll("${cwd}", () => "${workspaceFolder}")
      .replaceAll(VARIABLE, (whole, name: string) => own(name, [variable]) ?? whole);
  };
  const each = (field: string, value: unknown): unknown => {
    if (Array.isArray(value))
      return value.map((item: unknown, index) => {
        // Older files write a variable without braces, as a complete argument.
        const text = typeof item === "string" ? item.replace(/^\$([A-Za-z_]\w*)$/, "${$1}") : item;
        return mapTexts(text, (part) => rewrite(`${field}.${index}`, part));
      });
    const members = asRecord(value);
    if (Object.keys(members).length === 0) return mapTexts(value, (text) => rewrite(field, text));
    return Object.fromEntries(
      Object.entries(members).map(([name, member]) => [
        name,
        mapTexts(member, (text) => rewrite(`${field}.${name}`, text)),
      ]),
    );
  };
  const written = entry["env"] === undefined ? entry : { ...entry, env };
  return Object.fromEntries(Object.entries(written).map(([field, value]) => [field, each(field, value)]));
}
