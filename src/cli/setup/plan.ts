import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../errors/show-value.ts";
import { asRecord, isPlainObject, isTexts } from "../../tool/json-schema.ts";
import { toNamespace } from "../../tool/normalise/slug.ts";
import {
  arsenalText,
  type ArsenalSections,
  type ClientRoute,
  type ClientToolset,
  editedText,
  heldDenials,
  readExisting as read,
  writeWithBackup,
} from "./edit-files.ts";
import { envFileText, readEnv } from "./env-file.ts";
import { type ServerEntry, styleOf } from "./entry-styles.ts";
import type { FoundClient } from "./find-clients.ts";
import { type GatheredServers, PRIVATE_FOLDER } from "./gather.ts";
import { lineDiff } from "./line-diff.ts";
import { HIDDEN, hideSecretsOf, withoutSecrets } from "./secrets.ts";
import { recordRun } from "./undo.ts";

interface Step {
  readonly file: string;
  readonly action: "create" | "update";
  /** The new permissions of the file, in octal. Omitted if they do not change. */
  readonly mode?: string;
  /** The change, with secrets hidden. */
  readonly diff: string;
  readonly client?: string;
  readonly text: string;
}

/** The steps of setup, which a dry run only displays. */
export type Plan = Awaited<ReturnType<typeof planSetup>>;

const PRIVATE = "600";

/** Plans the files that setup writes: env files, then arsenal.yaml that names them, then the clients' files. */
export async function planSetup(parts: {
  readonly clients: readonly FoundClient[];
  readonly gathered: GatheredServers;
  readonly target: string;
  readonly force: boolean;
  readonly replaceClients: boolean;
  /** True gives every client the servers of all clients. */
  readonly share?: boolean;
  /** True lets every client start its own gateway. */
  readonly stdio?: boolean;
  /** Further sections of arsenal.yaml, from another gateway's file. */
  readonly sections?: ArsenalSections;
}) {
  const { clients, target, force, replaceClients, share = false, stdio = false } = parts;
  const existing = await read(target);
  const mapping = (await parseMapping(existing ?? "")) ?? {};
  const { toolsets: groups, denied: switchedOff } = parts.sections ?? { toolsets: [], denied: [] };
  const undenied = switchedOff.filter((id) => !heldDenials(mapping).includes(id));
  const hasPolicyFile = asRecord(mapping["security"])["policy_file"] !== undefined;
  const elsewhere = await namesElsewhere(existing);
  const differing = force ? [] : await differingServers(parts.gathered.servers, existing);
  const isKept = (name: string): boolean => elsewhere.has(name) || differing.includes(name);
  const isElsewhere = (name: string): boolean => elsewhere.has(name);
  const gathered = {
    ...parts.gathered,
    servers: without(parts.gathered.servers, isKept),
    envFiles: parts.gathered.envFiles.filter(({ server }) => !isKept(server)),
  };
  const conflicts: string[] = [];
  const toolsets = replaceClients && !share ? await planToolsets(clients, parts.gathered, existing) : groups;
  const sections = { toolsets, denied: hasPolicyFile ? [] : undenied };
  const steps: Step[] = [
    ...(await planEnvFiles(gathered, dirname(target), conflicts)),
    ...(await planArsenal(gathered, target, conflicts, sections)),
  ];
  const replaced = clients.filter(({ servers, hasOwnEntry }) => Object.keys(servers).length > 0 || hasOwnEntry);
  // A single client needs no shared gateway, so it starts its own.
  const gateway = stdio || replaced.length < 2 ? undefined : await sharedAddress(existing);
  const unedited: UneditedClient[] = [];
  if (replaceClients)
    steps.push(
      ...(await planClients(clients, unedited, (found) => {
        const toolset = toolsets.find(({ name }) => name === found.toolset)?.name;
        return { config: target, toolset, gateway };
      })),
    );
  const blocked = conflicts.length > 0 && !force;
  return {
    files: steps.map(({ text: _text, ...shown }) => shown),
    /** Existing content that prevents writing a file. */
    conflicts: blocked ? conflicts : [],
    /** Servers whose entries in arsenal.yaml were edited. They stay unchanged unless `--force` is given. */
    edited: differing,
    /** The address that clients share; undefined if each client starts its own gateway. */
    gateway: replaceClients && clients.some(({ style }) => styleOf(style).address !== undefined) ? gateway : undefined,
    /** Clients whose files setup cannot edit because of their form. */
    unedited,
    toolsets: toolsets.map(({ name }) => name),
    denied: sections.denied,
    /** Tools that the policy file must deny, because security.deny cannot be combined with a policy file. */
    undenied: hasPolicyFile ? undenied : [],
    /** Servers that arsenal.yaml configures outside `mcpServers`. They stay unchanged. */
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
      const written = new Map(steps.map((step) => [step.file, step]));
      await recordRun(
        target,
        [...written.values()].flatMap(({ client, file, text }) => {
          const backup = backups.get(file);
          return client === undefined || backup === undefined ? [] : [{ client, file, backup, text }];
        }),
      );
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

async function planArsenal(
  { servers }: GatheredServers,
  file: string,
  conflicts: string[],
  sections: ArsenalSections,
): Promise<readonly Step[]> {
  const isEmpty = sections.toolsets.length === 0 && sections.denied.length === 0;
  if (Object.keys(servers).length === 0 && isEmpty) return [];
  const shown = hiddenSecrets(servers);
  const existing = await read(file);
  if (existing === undefined) {
    const diff = lineDiff("", await arsenalText(undefined, shown, sections));
    return [{ file, action: "create", mode: PRIVATE, diff, text: await arsenalText(undefined, servers, sections) }];
  }
  const mapping = await parseMapping(existing);
  if (mapping === undefined) conflicts.push(`${file} is not a valid YAML mapping`);
  const held = heldServers(mapping);
  const isHeld = (name: string): boolean => isSame(servers[name], held[name]);
  if (mapping !== undefined && Object.keys(servers).every(isHeld) && isEmpty) return [];
  const text = await arsenalText(existing, without(servers, isHeld), sections);
  if (text === existing) return [];
  const diff = hideSecretsOf(held)(lineDiff(existing, await arsenalText(existing, without(shown, isHeld), sections)));
  // An existing file keeps its permissions, unless secrets are written to it.
  const hasSecrets = !isDeepStrictEqual(servers, shown);
  return [{ file, action: "update", ...(hasSecrets ? { mode: PRIVATE } : {}), diff, text }];
}

function heldServers(mapping: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return isPlainObject(mapping["mcpServers"]) ? mapping["mcpServers"] : {};
}

/** Compares only the members that setup writes. The user added the others. */
function isSame(wanted: ServerEntry = {}, held: unknown): boolean {
  return isPlainObject(held) && Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(held[key], value));
}

/** Lists servers that arsenal.yaml has under the same name but with other settings. */
async function differingServers(servers: GatheredServers["servers"], existing = ""): Promise<readonly string[]> {
  const held = heldServers(await parseMapping(existing));
  return Object.keys(servers).filter((name) => Object.hasOwn(held, name) && !isSame(servers[name], held[name]));
}

/** Plans one toolset for each client without the complete set of servers. A client whose own entry has no toolset gets all servers. */
async function planToolsets(
  clients: readonly FoundClient[],
  { servers, ofClients }: GatheredServers,
  existing = "",
): Promise<readonly ClientToolset[]> {
  const mapping = (await parseMapping(existing)) ?? {};
  const held = [...Object.keys(heldServers(mapping)), ...(await namesElsewhere(existing))];
  const all = new Set([...Object.keys(servers), ...held].map(toNamespace));
  return clients.flatMap(({ client, toolset: name, hasOwnEntry }) => {
    const own = (ofClients.get(name) ?? []).map(toNamespace);
    const before = heldEnsembles(mapping, name);
    if (own.length === 0 || (hasOwnEntry && before === undefined)) return [];
    const ensembles = [...new Set([...(before ?? []), ...own])];
    if (before === undefined && ensembles.length === all.size) return [];
    return [{ name, description: `The servers that ${client} had.`, include: { where: { ensembles } } }];
  });
}

/** Returns the servers of a toolset that setup wrote to arsenal.yaml; undefined if there is no such toolset. */
function heldEnsembles({ toolsets }: Readonly<Record<string, unknown>>, name: string): readonly string[] | undefined {
  const listed: readonly unknown[] = Array.isArray(toolsets) ? toolsets : [];
  const found = listed.find((each) => isPlainObject(each) && each["name"] === name);
  if (!isPlainObject(found)) return undefined;
  const { where } = isPlainObject(found["include"]) ? found["include"] : {};
  return isPlainObject(where) && isTexts(where["ensembles"]) ? where["ensembles"] : [];
}

/** Returns the address of the gateway; undefined if the port is not fixed, or if callers must authenticate, which stdio does not require. */
async function sharedAddress(existing = ""): Promise<string | undefined> {
  const { server } = (await parseMapping(existing)) ?? {};
  const {
    host = "127.0.0.1",
    port = 8080,
    public_url: publicUrl,
    tokens,
    auth,
    tls,
  } = isPlainObject(server) ? server : {};
  if (tokens !== undefined || auth !== undefined || typeof port !== "number" || port === 0) return undefined;
  if (typeof publicUrl === "string" && URL.canParse(publicUrl)) return publicUrl.replace(/\/$/, "");
  return host === "127.0.0.1" || host === "localhost"
    ? `${tls === undefined ? "http" : "https"}://${host}:${port}`
    : undefined;
}

interface UneditedClient {
  readonly client: string;
  readonly file: string;
  readonly problem: string;
}

async function planClients(
  clients: readonly FoundClient[],
  unedited: UneditedClient[],
  routeOf: (found: FoundClient) => ClientRoute,
): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const found of clients) {
    const { client, file, servers } = found;
    if (Object.keys(servers).length === 0) continue;
    // A file may have servers under two paths.
    const before = steps.findLast((step) => step.file === file)?.text ?? (await readFile(file, "utf8"));
    try {
      const text = await editedText(found, before, routeOf(found));
      const hide = hideSecretsOf(servers);
      steps.push({ client, file, action: "update", diff: lineDiff(hide(before), hide(text)), text });
    } catch (error) {
      unedited.push({ client, file, problem: messageOf(error) });
    }
  }
  return steps;
}

/** Returns the names of servers that an arsenal.yaml configures under `mcp.servers`, `arsenal.mcp_servers` or `servers`. */
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
