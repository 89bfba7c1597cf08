import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isPlainObject } from "../../tool/json-schema.ts";
import { arsenalText, editedText, ownServers, readExisting as read, writeWithBackup } from "./edit-files.ts";
import { envFileText, readEnv } from "./env-file.ts";
import type { FoundClient } from "./find-clients.ts";
import { type GatheredServers, PRIVATE_FOLDER } from "./gather.ts";
import { HIDDEN, separateSecrets, withoutSecrets } from "./secrets.ts";

interface Step {
  readonly file: string;
  readonly action: "create" | "update";
  /** Permissions of the file, in octal. Omitted if they do not change. */
  readonly mode?: string;
  /** The change, with secrets hidden. */
  readonly diff: string;
  readonly client?: string;
  readonly text: string;
}

/** The steps of setup; a dry run shows them, a real run performs them. */
export type Plan = Awaited<ReturnType<typeof planSetup>>;

const PRIVATE = "600";

/** Plans the files that setup writes: env files first, then arsenal.yaml that names them, then the clients' files. */
export async function planSetup(parts: {
  readonly clients: readonly FoundClient[];
  readonly gathered: GatheredServers;
  /** The path of arsenal.yaml. */
  readonly target: string;
  readonly force: boolean;
  readonly replaceClients: boolean;
}) {
  const { clients, target, force, replaceClients } = parts;
  const elsewhere = await namesElsewhere(await read(target));
  const isElsewhere = (name: string): boolean => elsewhere.has(name);
  const gathered = {
    ...parts.gathered,
    servers: without(parts.gathered.servers, isElsewhere),
    envFiles: parts.gathered.envFiles.filter(({ server }) => !elsewhere.has(server)),
  };
  const conflicts: string[] = [];
  const steps: Step[] = [
    ...(await planEnvFiles(gathered, dirname(target), conflicts)),
    ...(await planArsenal(gathered, target, conflicts)),
  ];
  if (replaceClients) steps.push(...(await planClients(clients, target)));
  const blocked = conflicts.length > 0 && !force;
  return {
    files: steps.map(({ text: _text, ...shown }) => shown),
    /** The existing content that prevents writing. */
    conflicts: blocked ? conflicts : [],
    /** Servers that arsenal.yaml configures outside `mcpServers`. They are left as they are. */
    kept: Object.keys(parts.gathered.servers).filter(isElsewhere),
    /** Writes the files. Returns the name of each backup, by file. */
    async write(now: Date): Promise<ReadonlyMap<string, string>> {
      const backups = new Map<string, string>();
      for (const { file, action, mode, text } of steps) {
        const permissions = mode === undefined ? {} : { mode: Number.parseInt(mode, 8) };
        if (action === "create") {
          const isPrivate = basename(dirname(file)) === PRIVATE_FOLDER;
          await mkdir(dirname(file), { recursive: true, ...(isPrivate ? { mode: 0o700 } : {}) });
          await writeFile(file, text, { ...permissions, flag: "wx" });
        } else if (backups.has(file)) await writeFile(file, text);
        else backups.set(file, await writeWithBackup(file, text, now));
        if (permissions.mode === undefined) continue;
        // The backup of a private file is private too.
        for (const path of [file, backups.get(file)]) if (path !== undefined) await chmod(path, permissions.mode);
      }
      return backups;
    },
  };
}

async function planEnvFiles(
  { envFiles, servers }: GatheredServers,
  folder: string,
  conflicts: string[],
): Promise<readonly Step[]> {
  if (Object.keys(servers).length === 0) return [];
  const steps: Step[] = [];
  const ignore = join(folder, PRIVATE_FOLDER, ".gitignore");
  if ((await read(ignore)) === undefined)
    steps.push({ file: ignore, action: "create", mode: "644", diff: "+ *", text: "*\n" });
  for (const { path, values, missing } of envFiles) {
    const file = join(folder, path);
    const existing = await read(file);
    const held = readEnv(existing ?? "");
    const changed = Object.keys(values).filter((name) => Object.hasOwn(held, name) && held[name] !== values[name]);
    conflicts.push(...changed.map((name) => `${name} in ${path} differs from the value your client has`));
    const added = [...Object.keys(values), ...missing].filter((name) => !Object.hasOwn(held, name));
    const isPrivate =
      existing === undefined || process.platform === "win32" || ((await stat(file)).mode & 0o777) === 0o600;
    if (added.length === 0 && changed.length === 0 && isPrivate) continue;
    const lines = [
      ...changed.map((name) => `- ${name}=${HIDDEN}`),
      ...[...changed, ...added].map((name) => `+ ${name}=${missing.includes(name) ? "" : HIDDEN}`),
    ];
    const action = existing === undefined ? "create" : "update";
    const text = envFileText(values, missing, existing);
    steps.push({ file, action, mode: PRIVATE, diff: lines.join("\n"), text });
  }
  return steps;
}

async function planArsenal({ servers }: GatheredServers, file: string, conflicts: string[]): Promise<readonly Step[]> {
  if (Object.keys(servers).length === 0) return [];
  const shown = hiddenSecrets(servers);
  const existing = await read(file);
  if (existing === undefined) {
    const diff = lineDiff("", await arsenalText(undefined, shown));
    return [{ file, action: "create", mode: PRIVATE, diff, text: await arsenalText(undefined, servers) }];
  }
  const mapping = await parseMapping(existing);
  const held = mapping && (isPlainObject(mapping["mcpServers"]) ? mapping["mcpServers"] : {});
  if (held === undefined) conflicts.push(`${file} is not a valid YAML mapping`);
  const names = Object.keys(servers);
  // Only the members that setup writes are compared; others were added by the user.
  const isSame = (name: string): boolean => {
    const entry = held?.[name];
    const wanted = Object.entries(servers[name] ?? {});
    return isPlainObject(entry) && wanted.every(([key, value]) => isDeepStrictEqual(entry[key], value));
  };
  const other = names.filter((name) => held !== undefined && Object.hasOwn(held, name) && !isSame(name));
  conflicts.push(...other.map((name) => `${name} differs from the server of that name in ${file}`));
  if (names.every(isSame)) return [];
  const text = await arsenalText(existing, without(servers, isSame));
  const diff = hideSecrets(lineDiff(existing, await arsenalText(existing, without(shown, isSame))), held ?? {});
  // The permissions of an existing file stay, unless secrets are written to it.
  const hasSecrets = !isDeepStrictEqual(servers, shown);
  return [{ file, action: "update", ...(hasSecrets ? { mode: PRIVATE } : {}), diff, text }];
}

async function planClients(clients: readonly FoundClient[], config: string): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const found of clients) {
    const { client, file, servers } = found;
    if (Object.keys(servers).length === 0) continue;
    const [old, next] = [hiddenSecrets(servers), ownServers(found, config)];
    const diff = lineDiff(JSON.stringify(old, undefined, 2), JSON.stringify(next, undefined, 2));
    // A file may have servers under two paths.
    const earlier = steps.findLast((step) => step.file === file)?.text;
    const text = editedText(found, earlier ?? (await readFile(file, "utf8")), config);
    steps.push({ client, file, action: "update", diff, text });
  }
  return steps;
}

/** Names of servers in an arsenal.yaml under `mcp.servers`, `arsenal.mcp_servers` or `servers`. */
async function namesElsewhere(text = ""): Promise<ReadonlySet<string>> {
  const { mcp, arsenal, servers } = (await parseMapping(text)) ?? {};
  const lists = [isPlainObject(mcp) && mcp["servers"], isPlainObject(arsenal) && arsenal["mcp_servers"]];
  const listed = lists.flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const names = listed.map((entry) => (isPlainObject(entry) ? String(entry["name"]) : ""));
  return new Set([...names, ...(isPlainObject(servers) ? Object.keys(servers) : [])]);
}

async function parseMapping(text: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { parse } = await import("yaml");
  try {
    const value: unknown = parse(text) ?? {};
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function without(servers: GatheredServers["servers"], isOut: (name: string) => boolean): GatheredServers["servers"] {
  return Object.fromEntries(Object.entries(servers).filter(([name]) => !isOut(name)));
}

function hiddenSecrets(servers: GatheredServers["servers"]): GatheredServers["servers"] {
  return Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, withoutSecrets(entry)]));
}

/** The text without the secrets of these entries. */
function hideSecrets(text: string, entries: Readonly<Record<string, unknown>>): string {
  const secrets = Object.entries(entries).flatMap(([name, entry]) =>
    isPlainObject(entry) ? Object.values(separateSecrets(name, entry).secrets) : [],
  );
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

/** The difference between two texts: a block of removed lines and one of added lines. */
export function lineDiff(before: string, after: string): string {
  const [old, next] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  const lines = (sign: string, all: readonly string[]): string[] =>
    all.slice(start, all.length - end).map((line) => `${sign} ${line}`);
  return [...lines("-", old), ...lines("+", next)].join("\n");
}
