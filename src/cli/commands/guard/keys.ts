import { resolve } from "node:path";
import {
  createKeyText,
  fileKeys,
  hashOfKey,
  KEY_NAME,
  type KeyStore,
} from "../../../adapters/identity/api-keys/key-file.ts";
import { stateKeys } from "../../../adapters/identity/api-keys/state-keys.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { hasTeams } from "../../../wire/guard.ts";
import { CAPABILITIES, type Capability } from "../../../tool/tool.ts";
import type { ResolvedConfig } from "../../../config/load/resolve-config.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { type RecordedChange, withKeptState } from "../../arsenal/kept-state.ts";
import { readSettings } from "../../arsenal/open-arsenal.ts";
import { readNumber, wrongInput } from "../../input.ts";
import { table } from "../../terminal/style.ts";

export const command: Command = {
  actions: {
    create: { summary: "Create a key, print it once and list its rights", positionals: ["NAME"] },
    grant: { summary: "Give more rights to a key", positionals: ["NAME"] },
    list: { summary: "List the keys and their rights" },
    revoke: { summary: "Revoke a key", positionals: ["NAME"] },
    rotate: { summary: "Replace the secret of a key, and print the new one once", positionals: ["NAME"] },
  },
  options: {
    file: { value: "FILE", description: "Key file", fallback: "server.auth.api_keys in the configuration" },
    operator: {
      description: "For create and grant: all rights of an operator, including approving the calls of others",
    },
    role: { value: "ROLE", repeatable: true, description: "For create and grant: role of the caller" },
    capability: {
      value: "C",
      repeatable: true,
      description: "For create and grant: capability of the caller, such as read_data, or all",
    },
    scope: { value: "SCOPE", repeatable: true, description: "For create and grant: scope of the caller" },
    tenant: { value: "TENANT", description: "For create: tenant of the caller" },
    expires: { value: "DAYS", description: "For create and rotate: days until the key expires", fallback: "never" },
    overlap: {
      value: "HOURS",
      description: "For rotate: hours for which the old secret is still accepted",
      fallback: "24",
    },
  },
  examples: [
    "keys create ci --capability read_data --scope build",
    "keys create ada --operator",
    "keys grant ci --capability all",
    "keys list",
    "keys rotate ci --overlap 2 --expires 90",
    "keys revoke ci",
  ],
  async run(input, terminal) {
    const [action, name = ""] = input.positionals;
    const server = await readServer(input, terminal);
    const { operatorRole } = server;
    const changed = await withKeys(input, terminal, server, async (keys, recorded) => {
      if (action === "list") return list(keys, input, terminal);
      const fix = "Use lower-case letters, digits and dashes, starting with a letter.";
      if (!KEY_NAME.test(name)) throw wrongInput("NAME", name, `"${name}" is not a valid name for a key.`, fix);
      const step = { keys, name, input, terminal, operatorRole };
      if (action === "create") await checkTenant(input, terminal, server);
      return recorded(`${action}Key`, [name], async () => {
        if (action === "create") return create(step);
        if (action === "rotate") return rotate(step);
        return action === "grant" ? grant(step) : revoke(step);
      });
    });
    if (changed === undefined || input.json) return;
    const { describeRights } = await import("../../arsenal/key-rights.ts");
    terminal.err.write(`${await describeRights(changed, { operatorRole, input, terminal })}\n`);
  },
};

/** Refuses a tenant that does not exist, if tenants are switched on: its callers would have no quota. */
async function checkTenant(input: Input, terminal: Terminal, { hasTenants }: KeySettings): Promise<void> {
  const { tenant, file } = input.options;
  if (tenant === undefined || file !== undefined || !hasTenants) return;
  const { localTeams } = await import("../../arsenal/local-teams.ts");
  await withKeptState("Tenants", input, terminal, async ({ states: [state] }) => {
    await localTeams(state).tenant(tenant, localOperator());
  });
}

interface KeyStep {
  readonly keys: KeyStore;
  readonly name: string;
  readonly input: Input;
  readonly terminal: Terminal;
  readonly operatorRole: string;
}

async function create({ keys, name, input, terminal: { out, err }, operatorRole }: KeyStep): Promise<Principal> {
  const key = createKeyText(name);
  const { tenant } = input.options;
  const principal: Principal = {
    id: name,
    ...(tenant === undefined ? {} : { tenant }),
    ...readRights(input, operatorRole),
    local: false,
  };
  const times = { createdAt: Date.now(), ...expiryOf(input) };
  if (!(await keys.add({ id: name, hash: hashOfKey(key), principal, ...times }))) {
    const fix = `Give it more rights with: toolarsenal keys grant ${name}, or revoke it first: toolarsenal keys revoke ${name}`;
    throw wrongInput("NAME", name, `A key named ${name} already exists.`, fix);
  }
  out.write(input.json ? `${JSON.stringify({ id: name, key, principal })}\n` : `${key}\n`);
  if (!input.json) err.write(`Copy the key now: it is shown only once. Its hash is saved in ${keys.place}.\n`);
  return principal;
}

async function rotate({ keys, name, input, terminal: { out, err } }: KeyStep): Promise<undefined> {
  const key = createKeyText(name);
  const overlap = readNumber(input, "overlap", { min: 0, max: 720, fallback: 24 });
  const until = Date.now() + overlap * HOUR_MS;
  const isKnown = await keys.change(name, ({ previous: _previous, ...before }) => ({
    ...before,
    hash: hashOfKey(key),
    ...expiryOf(input),
    ...(overlap > 0 && { previous: { hash: before.hash, until } }),
  }));
  if (!isKnown) throw wrongInput("NAME", name, `No key is named ${name}.`, "See: toolarsenal keys list");
  out.write(input.json ? `${JSON.stringify({ id: name, key })}\n` : `${key}\n`);
  const old =
    overlap > 0 ? `The old one is accepted until ${new Date(until).toISOString()}.` : "The old one is refused.";
  if (!input.json) err.write(`Copy the new key now: it is shown only once. ${old}\n`);
}

const HOUR_MS = 3_600_000;

function expiryOf(input: Input): { readonly expiresAt?: number } {
  if (input.options["expires"] === undefined) return {};
  const days = readNumber(input, "expires", { min: 1, max: 3_650, fallback: 1 });
  return { expiresAt: Date.now() + days * 24 * HOUR_MS };
}

async function grant({ keys, name, input, terminal: { out, err }, operatorRole }: KeyStep): Promise<Principal> {
  const { tenant } = input.options;
  const fixTenant = `Revoke it and make another one: toolarsenal keys revoke ${name}`;
  if (tenant !== undefined) throw wrongInput("--tenant", tenant, "The tenant of a key cannot be changed.", fixTenant);
  const rights = readRights(input, operatorRole);
  if (Object.values(rights).every(({ length }) => length === 0)) {
    const fix = `Write what to grant, such as: toolarsenal keys grant ${name} --capability read_data`;
    throw wrongInput("--capability", undefined, "There is nothing to grant.", fix);
  }
  let granted: Principal | undefined;
  await keys.change(name, (key) => ({ ...key, principal: (granted = withRights(key.principal, rights)) }));
  if (granted === undefined) throw wrongInput("NAME", name, `No key is named ${name}.`, "See: toolarsenal keys list");
  if (input.json) out.write(`${JSON.stringify({ id: name, principal: granted })}\n`);
  else err.write(`Granted. The key stays the same, and a running gateway follows within a second.\n`);
  return granted;
}

function withRights(principal: Principal, { roles, capabilities, scopes }: Rights): Principal {
  const isGranted = (each: Capability): boolean => principal.capabilities.includes(each) || capabilities.includes(each);
  return {
    ...principal,
    roles: [...new Set([...principal.roles, ...roles])],
    capabilities: CAPABILITIES.filter(isGranted),
    scopes: [...new Set([...principal.scopes, ...scopes])],
  };
}

async function revoke({ keys, name, input, terminal: { out, err } }: KeyStep): Promise<undefined> {
  if (!(await keys.remove(name)))
    throw wrongInput("NAME", name, `No key is named ${name}.`, "See: toolarsenal keys list");
  if (input.json) out.write(`${JSON.stringify({ id: name, outcome: "revoked" })}\n`);
  else err.write(`Revoked ${name}. A running gateway refuses it within a second.\n`);
}

async function list(keys: KeyStore, { json }: Input, { out }: Terminal): Promise<undefined> {
  const known = await keys.read();
  const rows = known.map(({ id, principal: { tenant = "", roles, capabilities, scopes }, expiresAt }) => {
    const expiry = expiresAt === undefined ? "" : `expires ${new Date(expiresAt).toISOString()}`;
    return [id, tenant, roles.join(" "), capabilities.join(" "), scopes.join(" "), expiry];
  });
  const shown = known.map(({ hash: _hash, previous: _previous, ...key }) => key);
  if (json) out.write(`${JSON.stringify(shown)}\n`);
  else if (known.length > 0) out.write(`${table(rows)}\n`);
}

type Rights = Pick<Principal, "roles" | "capabilities" | "scopes">;

function readRights({ flags, repeated }: Input, operatorRole: string): Rights {
  const operator = flags.has("operator");
  const { role: roles = [], capability = [], scope: scopes = [] } = repeated;
  const all = "--operator already grants every capability and scope.";
  if (operator && capability.length + scopes.length > 0)
    throw wrongInput("--operator", true, all, "Remove --capability and --scope.");
  const known = CAPABILITIES as readonly string[];
  const other = capability.find((each) => each !== "all" && !known.includes(each));
  if (other !== undefined) {
    const fix = `Use all, or one of ${known.join(", ")}.`;
    throw wrongInput("--capability", other, `There is no capability "${other}".`, fix);
  }
  if (operator)
    return { roles: [...new Set([operatorRole, "approver", ...roles])], capabilities: CAPABILITIES, scopes: ["*"] };
  return {
    roles,
    capabilities: capability.includes("all") ? CAPABILITIES : (capability as readonly Capability[]),
    scopes,
  };
}

interface KeySettings extends Pick<ResolvedConfig["server"], "auth" | "operatorRole"> {
  readonly hasTenants: boolean;
}

/** Returns the settings of the gateway. With `--file`, ignores an unreadable configuration. */
async function readServer(input: Input, terminal: Terminal): Promise<KeySettings> {
  try {
    const settings = await readSettings(input, terminal);
    const { auth, operatorRole } = settings.server;
    return { ...(auth && { auth }), operatorRole, hasTenants: hasTeams(settings) };
  } catch (error) {
    if (input.options["file"] === undefined) throw error;
    return { operatorRole: "operator", hasTenants: false };
  }
}

/** Runs a step on the keys in the given file, or in the configured file or state. */
async function withKeys<Result>(
  input: Input,
  terminal: Terminal,
  { auth }: Pick<ResolvedConfig["server"], "auth">,
  run: (keys: KeyStore, recorded: RecordedChange) => Promise<Result>,
): Promise<Result | undefined> {
  const { file: given } = input.options;
  const unrecorded: RecordedChange = (_action, _targets, change) => change();
  if (given !== undefined) return run(fileKeys(resolve(terminal.folder, given)), unrecorded);
  const { file, state: isShared } = auth?.apiKeys ?? {};
  if (file !== undefined) return run(fileKeys(file), unrecorded);
  if (isShared !== true) {
    const fix = "Set server.auth.api_keys.file, or pass --file FILE.";
    throw wrongInput("--file", undefined, "No key file is configured.", fix);
  }
  let result: Result | undefined;
  await withKeptState("API keys", input, terminal, async ({ states: [state], recorded }) => {
    result = await run(stateKeys(state), recorded);
  });
  return result;
}
