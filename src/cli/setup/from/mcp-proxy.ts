import { fixable } from "../../../errors/arsenal-error.ts";
import { asRecord, asTexts } from "../../../tool/json-schema.ts";
import type { ServerEntry } from "../entry-styles.ts";
import { type CarriedSettings, type FromKind, hasMember, type LeftOut, leftOutOfEntry, serversOf } from "./carried.ts";
import { proxyArguments, readProxyLine } from "./mcp-proxy-line.ts";
import { shellCommands } from "./shell-words.ts";

/** The file of `mcp-proxy --named-server-config`, and clients' files that start mcp-proxy. */
export const mcpProxy: FromKind = {
  title: "mcp-proxy",
  isLike: (root) =>
    hasMember(root, ["transportType"]) || serversOf(root).entries.some(([, entry]) => proxyOf(entry) !== undefined),
  carry(root) {
    const { key, entries } = serversOf(root);
    const leftOut: LeftOut[] = [];
    const servers: [string, ServerEntry][] = [];
    for (const [name, entry] of entries) {
      const field = `${key}.${name}`;
      leftOut.push(...leftOutOfEntry(field, entry, {}));
      const words = proxyOf(entry);
      if (words === undefined) {
        servers.push([name, entry]);
        continue;
      }
      const { servers: read, leftOut: options } = readProxyLine(words, { field, env: asRecord(entry["env"]) });
      leftOut.push(...options);
      // A single server keeps the client's name; several servers have the names from the command line.
      for (const each of read) servers.push([read.length === 1 ? name : each.name, each.entry]);
    }
    return { servers: Object.fromEntries(servers), toolsets: [], denied: [], leftOut };
  },
};

function proxyOf({ command, args }: ServerEntry): readonly string[] | undefined {
  return typeof command === "string" ? proxyArguments([command, ...asTexts(args)]) : undefined;
}

/** Reads the command lines of mcp-proxy in a script. */
export function carryProxyLines(text: string, file: string): CarriedSettings {
  const servers = new Map<string, ServerEntry>();
  const leftOut: LeftOut[] = [];
  for (const { line, env, words } of shellCommands(text)) {
    const given = proxyArguments(words);
    if (given === undefined) continue;
    const read = readProxyLine(given, { field: `line ${line}`, env });
    leftOut.push(...read.leftOut);
    for (const { name, entry } of read.servers) {
      let free = name;
      for (let count = 2; servers.has(free); count++) free = `${name}-${count}`;
      servers.set(free, entry);
    }
  }
  if (servers.size === 0 && leftOut.length === 0)
    throw fixable(
      "INPUT_INVALID",
      `${file} has no command line of mcp-proxy.`,
      "Give a script with a line such as: npx mcp-proxy --port 8080 -- npx -y some-server",
      { field: "--from", value: file },
    );
  return { servers: Object.fromEntries(servers), toolsets: [], denied: [], leftOut };
}
