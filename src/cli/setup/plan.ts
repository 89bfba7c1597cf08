import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isPlainObject } from "../../tool/json-schema.ts";
import { arsenalText } from "./arsenal-file.ts";
import { editedText, ownServers, writeWithBackup } from "./client-edit.ts";
import { envFileText, readEnv } from "./env-file.ts";
import type { FoundClient } from "./find-servers.ts";
import { type Gathered, PRIVATE_FOLDER } from "./gather.ts";
import { lineDiff } from "./line-diff.ts";
import { HIDDEN, separateSecrets, withoutSecrets } from "./secrets.ts";

/** One file that setup writes. */
export interface PlannedFile {
  readonly file: string;
  readonly action: "create" | "update";
  /** Permissions of the file, in octal. Absent when they stay as they are. */
  readonly mode?: string;
  /** What changes, with secrets hidden. */
  readonly diff: string;
  /** The client the file belongs to. */
  readonly client?: string;
}

/** Everything that setup does; a dry run shows it, a real run carries it out. */
export interface Plan {
  readonly files: readonly PlannedFile[];
  /** Why nothing is written: what is there already and differs. */
  readonly conflicts: readonly string[];
  /** Servers that arsenal.yaml configures in another place than `mcpServers`. They are left as they are. */
  readonly kept: readonly string[];
  /** Writes the files. Returns the name of each copy that was kept, by file. */
  write(now: Date): Promise<ReadonlyMap<string, string>>;
}

interface Step extends PlannedFile {
  readonly text: string;
}

const PRIVATE = "600";

/** Plans what setup writes: env files first, then arsenal.yaml that names them, then the clients' files. */
export async function planSetup(parts: {
  readonly clients: readonly FoundClient[];
  readonly gathered: Gathered;
  /** The path of arsenal.yaml. */
  readonly target: string;
  readonly force: boolean;
  readonly replaceClients: boolean;
}): Promise<Plan> {
  const { clients, target, force, replaceClients } = parts;
  const elsewhere = await namesElsewhere(await read(target));
  const gathered = without(parts.gathered, elsewhere);
  const conflicts: string[] = [];
  const steps: Step[] = [
    ...(await planEnvFiles(gathered, dirname(target), conflicts)),
    ...(await planArsenal(gathered, target, conflicts)),
  ];
  if (replaceClients) steps.push(...(await planClients(clients, target)));
  const blocked = conflicts.length > 0 && !force;
  return {
    files: steps.map(({ text: _text, ...shown }) => shown),
    conflicts: blocked ? conflicts : [],
    kept: Object.keys(parts.gathered.servers).filter((name) => elsewhere.has(name)),
    async write(now) {
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
        // The copy of a private file is private too.
        for (const path of [file, backups.get(file)]) if (path !== undefined) await chmod(path, permissions.mode);
      }
      return backups;
    },
  };
}

async function planEnvFiles(
  { envFiles, servers }: Gathered,
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
    const isPrivate = existing === undefined || process.platform === "win32" || (await modeOf(file)) === 0o600;
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

async function planArsenal({ servers, shown }: Gathered, file: string, conflicts: string[]): Promise<readonly Step[]> {
  if (Object.keys(servers).length === 0) return [];
  const existing = await read(file);
  if (existing === undefined) {
    const diff = lineDiff("", await arsenalText(undefined, shown));
    return [{ file, action: "create", mode: PRIVATE, diff, text: await arsenalText(undefined, servers) }];
  }
  const held = await heldServers(existing);
  if (held === undefined) conflicts.push(`${file} is not a valid YAML mapping`);
  const names = Object.keys(servers);
  // Members that a person added to an entry are theirs; only those that setup writes are compared.
  const isSame = (name: string): boolean => {
    const entry = held?.[name];
    const wanted = Object.entries(servers[name] ?? {});
    return isPlainObject(entry) && wanted.every(([key, value]) => isDeepStrictEqual(entry[key], value));
  };
  const other = names.filter((name) => held !== undefined && Object.hasOwn(held, name) && !isSame(name));
  conflicts.push(...other.map((name) => `${name} differs from the server of that name in ${file}`));
  if (names.every(isSame)) return [];
  const pick = (entries: Gathered["servers"]): Gathered["servers"] =>
    Object.fromEntries(Object.entries(entries).filter(([name]) => !isSame(name)));
  const text = await arsenalText(existing, pick(servers));
  const diff = hideSecrets(lineDiff(existing, await arsenalText(existing, pick(shown))), held ?? {});
  // The permissions of a file that is there are its owner's choice, unless secrets come into it.
  const hasSecrets = !isDeepStrictEqual(servers, shown);
  return [{ file, action: "update", ...(hasSecrets ? { mode: PRIVATE } : {}), diff, text }];
}

async function planClients(clients: readonly FoundClient[], config: string): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const found of clients) {
    const { client, file, servers } = found;
    if (Object.keys(servers).length === 0) continue;
    const before = Object.entries(servers).map(([name, entry]) => [name, withoutSecrets(entry)]);
    const diff = lineDiff(pretty(Object.fromEntries(before)), pretty(ownServers(found, config)));
    // A file may have servers in two places.
    const earlier = steps.findLast((step) => step.file === file)?.text;
    const text = editedText(found, earlier ?? (await readFile(file, "utf8")), config);
    steps.push({ client, file, action: "update", diff, text });
  }
  return steps;
}

/** The servers an arsenal.yaml has under `mcpServers`; undefined when it cannot be read. */
async function heldServers(text: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const value = await parseMapping(text);
  if (value === undefined) return undefined;
  return isPlainObject(value["mcpServers"]) ? value["mcpServers"] : {};
}

/** Names of servers that an arsenal.yaml has under `mcp.servers`, `arsenal.mcp_servers` or `servers`. */
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

function without(gathered: Gathered, names: ReadonlySet<string>): Gathered {
  const rest = (entries: Gathered["servers"]): Gathered["servers"] =>
    Object.fromEntries(Object.entries(entries).filter(([name]) => !names.has(name)));
  const { servers, shown, envFiles } = gathered;
  const files = envFiles.filter(({ server }) => !names.has(server));
  return { ...gathered, servers: rest(servers), shown: rest(shown), envFiles: files };
}

/** The text without the secrets that these entries hold. */
function hideSecrets(text: string, entries: Readonly<Record<string, unknown>>): string {
  const secrets = Object.entries(entries).flatMap(([name, entry]) =>
    isPlainObject(entry) ? Object.values(separateSecrets(name, entry).secrets) : [],
  );
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

function read(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

async function modeOf(file: string): Promise<number> {
  return (await stat(file)).mode & 0o777;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
