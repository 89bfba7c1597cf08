import { randomUUID } from "node:crypto";
import { readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { envFileName } from "../cli/setup/env-file.ts";
import { PRIVATE_FOLDER } from "../cli/setup/gather.ts";
import { sha256 } from "../base/crypto.ts";
import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import { withoutTrust } from "../guard/egress/without-trust.ts";
import { reaches, type Severity } from "../guard/scan/finding.ts";
import { canonicalJson } from "../tool/json/canonical-json.ts";
import type { Surroundings } from "../adapters/surroundings.ts";
import { serversIn } from "./edit-config.ts";
import { refusedServer } from "./entry/danger.ts";
import { completeAnswers, type ServerAnswers, type ServerInput } from "./entry/inputs.ts";
import { dangersOf } from "./entry/packages.ts";
import { type FilledDraft, fillDraft } from "./install/draft.ts";
import type { Installation } from "./install/installation.ts";
import { type LockedServer, readLock } from "./lock-file.ts";
import { shortName, type RegistryEntry, type ServerJson } from "./read/server-json.ts";
import { makeFolder } from "../system/make-folder.ts";
import { type ServerTrial, type TrialFinding, tryServer } from "./try-server.ts";

/** The configuration that servers are added to, and the services for adding. */
export interface ServerHome extends Pick<Surroundings, "clock" | "egress" | "secrets"> {
  /** The path of the configuration file, which may not exist yet. */
  readonly config: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly envPassthrough?: readonly string[] | undefined;
  /** The configured sandbox, if any. */
  readonly sandbox?: string | undefined;
  /** Findings of this severity or higher block a server, unless a person accepts them. */
  readonly severity: Severity;
}

/** A server found in a registry, a server.json file or a bundle. */
export interface FoundServer {
  readonly entry: RegistryEntry;
  /** True if its addresses may be private. */
  readonly allowPrivate: boolean;
  readonly packageHosts: readonly string[];
}

/** A server that was downloaded and verified. It waits for its inputs. */
export interface PreparedServer {
  /** The name in the configuration. */
  readonly name: string;
  readonly server: ServerJson;
  readonly installation: Installation;
  readonly inputs: readonly ServerInput[];
  /** The lock entry of the version that is being replaced. */
  readonly before?: LockedServer;
  /** Fills in the inputs, and connects once. Throws INPUT_INVALID or SOURCE_UNAVAILABLE. */
  try(answers: ServerAnswers): Promise<TriedServer>;
  /** Removes the downloaded files. */
  discard(): Promise<void>;
}

/** A server that connected once, ready to be written. */
export interface TriedServer {
  readonly trial: ServerTrial;
  /** Findings that block the server, unless a person accepts them. */
  readonly severe: readonly TrialFinding[];
  readonly answers: ServerAnswers;
  /** The entry and the secrets that will be written. */
  readonly filled: FilledDraft;
  readonly locked: LockedServer;
}

/** Returns a hash of an entry's packages and addresses, to detect a change under the same version. */
export function digestOf({ packages = [], remotes = [] }: ServerJson): string {
  return `sha256:${sha256(canonicalJson({ packages, remotes }))}`;
}

/** Refuses an entry that is dangerous or deleted, or that changed although its version was pinned. Downloads nothing. */
export async function vetEntry(found: FoundServer, home: Pick<ServerHome, "config">): Promise<void> {
  const { entry, allowPrivate, packageHosts } = found;
  const { server, status, statusMessage } = entry;
  const locked = Object.values(await readLock(home.config));
  const used = locked.map(({ name }) => name);
  const dangers = dangersOf(server, { allowPrivate, packageHosts, used });
  if (dangers.length > 0) throw refusedServer(showName(server), dangers);
  if (status === "deleted")
    throw refusedServer(showName(server), [
      { field: "status", reason: `is deleted${statusMessage ? `: ${showValue(statusMessage, 200)}` : ""}` },
    ]);
  const same = locked.find((each) => each.name === server.name && each.version === server.version);
  if (same !== undefined && same.registry === entry.registry && same.entry !== digestOf(server))
    throw refusedServer(showName(server), [
      {
        field: "version",
        reason: `is ${server.version} as before, but its packages or addresses changed`,
        value: server.version,
      },
    ]);
}

function showName({ name }: ServerJson): string {
  return name.length > 200 ? showValue(name) : name;
}

/** Downloads and verifies a server that passed `vetEntry`, without running any of it. */
export async function prepareServer(
  found: FoundServer,
  install: (staging: string, found: FoundServer) => Promise<Installation>,
  home: ServerHome,
  options: {
    readonly as?: string | undefined;
    readonly replaces?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<PreparedServer> {
  const { entry } = found;
  const { server } = entry;
  const name = options.replaces ?? options.as ?? shortName(server);
  await checkFree(name, home, options.replaces);
  const before = (await readLock(home.config))[name];
  const folder = dirname(home.config);
  const staging = join(folder, PRIVATE_FOLDER, "servers", `.staging-${randomUUID().slice(0, 8)}`);
  const discard = async (): Promise<void> => {
    await rm(staging, { recursive: true, force: true });
    // Also removes parent folders that are empty now.
    for (const made of [dirname(staging), dirname(dirname(staging))]) await rmdir(made).catch(() => {});
  };
  await makeFolder(staging, 0o700);
  let installation: Installation;
  try {
    installation = await install(staging, found);
    const isSame = before?.name === server.name && before.version === server.version;
    if (
      isSame &&
      before.checksum !== undefined &&
      installation.checksum !== before.checksum &&
      before.kind === installation.kind
    )
      throw refusedServer(server.name, [
        {
          field: "version",
          reason: `is ${server.version} as before, but the content of ${installation.label} changed`,
          value: server.version,
        },
      ]);
  } catch (error) {
    await discard();
    throw error;
  }
  const { staged, inputs } = installation;
  const version = folderName(server.version);
  const own =
    staged === undefined
      ? undefined
      : `${PRIVATE_FOLDER}/servers/${envFileName(name)}/${version}-${sha256(installation.checksum ?? "").slice(0, 8)}`;

  return {
    name,
    server,
    installation,
    inputs,
    ...(before !== undefined && options.replaces !== undefined && { before }),
    discard,
    async try(given) {
      const answers = completeAnswers(inputs, given);
      const paths = inputs
        .filter(({ format }) => format === "filepath")
        .flatMap(({ key }) => answers[key]?.split(",") ?? []);
      const trial = await tryServer(name, fillDraft(installation.draft(staged ?? folder), inputs, answers, name), {
        ...home,
        folder,
        egress: found.allowPrivate ? home.egress : withoutTrust(home.egress, []),
        shown: [...(staged === undefined ? [] : [staged]), ...paths.filter((path) => path.startsWith("/"))],
        signal: options.signal,
      });
      const filled = fillDraft(installation.draft(`\${workspaceFolder}/${own ?? ""}`), inputs, answers, name);
      const envFile = `${PRIVATE_FOLDER}/${envFileName(name)}.env`;
      const hasSecrets = Object.keys(filled.secrets).length > 0;
      return {
        trial,
        severe: trial.findings.filter(({ severity }) => reaches(severity, home.severity)),
        answers,
        filled: hasSecrets ? { ...filled, entry: { ...filled.entry, envFile } } : filled,
        locked: {
          name: server.name,
          version: server.version,
          registry: entry.registry,
          kind: installation.kind,
          package: installation.label,
          ...(installation.checksum !== undefined && { checksum: installation.checksum }),
          entry: digestOf(server),
          tools: Object.fromEntries(trial.tools.map((tool) => [tool.name, tool.hash])),
          ...(own !== undefined && { folder: own }),
          ...(hasSecrets && { envFile }),
          ...lockedInputs(inputs, answers, filled),
        },
      };
    },
  };
}

/** Returns the user's values for the next update: plain values, and for each secret its variable in the env file. */
function lockedInputs(
  inputs: readonly ServerInput[],
  answers: ServerAnswers,
  { secrets }: FilledDraft,
): Pick<LockedServer, "inputs" | "secrets"> {
  const plain: Record<string, string> = {};
  const hidden: Record<string, string> = {};
  for (const { key, default: fallback } of inputs) {
    const value = answers[key];
    if (value === undefined || value === fallback) continue;
    const variable = Object.keys(secrets).find((each) => secrets[each] === value);
    if (variable === undefined) plain[key] = value;
    else hidden[key] = variable;
  }
  return {
    ...(Object.keys(plain).length > 0 && { inputs: plain }),
    ...(Object.keys(hidden).length > 0 && { secrets: hidden }),
  };
}

/** Refuses a name that the configuration has already, or that no server can have. With `replaces`, the server of that name is updated. */
export async function checkFree(
  name: string,
  { config }: Pick<ServerHome, "config">,
  replaces?: string | undefined,
): Promise<void> {
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) {
    const fix = "Use letters, digits, dashes and underscores.";
    throw fixable("INPUT_INVALID", `${showValue(name)} is not a valid server name.`, fix, { field: "as", value: name });
  }
  const text = await readFile(config, "utf8").catch(() => "");
  const taken = (await serversIn(text, config)).find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (taken === undefined || replaces !== undefined) return;
  const fix = `Update it with toolarsenal update ${name}, or choose another name with --as NAME.`;
  throw fixable("INPUT_INVALID", `A server named ${name} is already configured under ${taken.section}.`, fix, {
    field: "as",
    value: name,
  });
}

function folderName(version: string): string {
  return version.replaceAll(/[^A-Za-z0-9.+-]/g, "_");
}
