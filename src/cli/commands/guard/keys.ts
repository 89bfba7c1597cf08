import { resolve } from "node:path";
import {
  createKeyText,
  fileKeys,
  hashOfKey,
  KEY_NAME,
  type KeyStore,
} from "../../../adapters/identity/api-keys/key-file.ts";
import { stateKeys } from "../../../adapters/identity/api-keys/state-keys.ts";
import type { Principal } from "../../../guard/principal.ts";
import { CAPABILITIES, type Capability } from "../../../tool/tool.ts";
import type { Command, ExitCode, Input, Terminal } from "../../command.ts";
import { withKeptState } from "../../arsenal/kept-state.ts";
import { readSettings } from "../../arsenal/open-arsenal.ts";
import { wrongInput } from "../../input.ts";
import { table } from "../../terminal/style.ts";

export const command: Command = {
  actions: {
    create: { summary: "Create a key and print it once", positionals: ["NAME"] },
    list: { summary: "List the keys and what they may do" },
    revoke: { summary: "Revoke a key", positionals: ["NAME"] },
  },
  options: {
    file: { value: "FILE", description: "Key file", fallback: "server.auth.api_keys in the configuration" },
    operator: { description: "For create: give the caller all rights of an operator" },
    role: { value: "ROLE", repeatable: true, description: "For create: role of the caller" },
    capability: {
      value: "C",
      repeatable: true,
      description: "For create: capability of the caller, such as read_data",
    },
    scope: { value: "SCOPE", repeatable: true, description: "For create: scope of the caller" },
    tenant: { value: "TENANT", description: "For create: tenant of the caller" },
  },
  examples: ["keys create ci --capability read_data --scope build", "keys list", "keys revoke ci"],
  async run(input, terminal) {
    const [action, name = ""] = input.positionals;
    return withKeys(input, terminal, async (keys) => {
      if (action === "list") return list(keys, input, terminal);
      const fix = "Use lower-case letters, digits and dashes, starting with a letter.";
      if (!KEY_NAME.test(name)) throw wrongInput("NAME", name, `"${name}" is not a valid name for a key.`, fix);
      return action === "create" ? create(keys, name, input, terminal) : revoke(keys, name, input, terminal);
    });
  },
};

async function create(keys: KeyStore, name: string, input: Input, { out, err }: Terminal): Promise<void> {
  const key = createKeyText(name);
  const principal = readPrincipal(name, input);
  if (!(await keys.add({ id: name, hash: hashOfKey(key), principal }))) {
    const fix = `Revoke it first: toolarsenal keys revoke ${name}`;
    throw wrongInput("NAME", name, `A key named ${name} already exists.`, fix);
  }
  out.write(input.json ? `${JSON.stringify({ id: name, key, principal })}\n` : `${key}\n`);
  if (!input.json) err.write(`Copy the key now: it is shown only once. Its hash is saved in ${keys.place}.\n`);
}

async function revoke(keys: KeyStore, name: string, input: Input, { out, err }: Terminal): Promise<void> {
  if (!(await keys.remove(name)))
    throw wrongInput("NAME", name, `No key is named ${name}.`, "See: toolarsenal keys list");
  if (input.json) out.write(`${JSON.stringify({ id: name, outcome: "revoked" })}\n`);
  else err.write(`Revoked ${name}. A running gateway refuses it within a second.\n`);
}

async function list(keys: KeyStore, { json }: Input, { out }: Terminal): Promise<void> {
  const known = await keys.read();
  const rows = known.map(({ id, principal: { tenant = "", roles, capabilities, scopes } }) => {
    return [id, tenant, roles.join(" "), capabilities.join(" "), scopes.join(" ")];
  });
  if (json) out.write(`${JSON.stringify(known.map(({ id, principal }) => ({ id, principal })))}\n`);
  else if (known.length > 0) out.write(`${table(rows)}\n`);
}

function readPrincipal(id: string, { options, flags, repeated }: Input): Principal {
  const operator = flags.has("operator");
  const { tenant } = options;
  const { role: roles = [], capability = [], scope: scopes = [] } = repeated;
  const all = "--operator already grants every capability and scope.";
  if (operator && capability.length + scopes.length > 0)
    throw wrongInput("--operator", true, all, "Remove --capability and --scope.");
  const known = CAPABILITIES as readonly string[];
  const other = capability.find((each) => !known.includes(each));
  if (other !== undefined)
    throw wrongInput("--capability", other, `There is no capability "${other}".`, `Use one of ${known.join(", ")}.`);
  return {
    id,
    ...(tenant === undefined ? {} : { tenant }),
    roles: operator ? [...new Set(["operator", ...roles])] : roles,
    capabilities: operator ? CAPABILITIES : (capability as readonly Capability[]),
    scopes: operator ? ["*"] : scopes,
    local: false,
  };
}

/** Runs a step on the keys of the given file, or of the configured file or state. */
async function withKeys(input: Input, terminal: Terminal, run: (keys: KeyStore) => Promise<void>): Promise<ExitCode> {
  const { file: given } = input.options;
  if (given !== undefined) return run(fileKeys(resolve(terminal.folder, given)));
  const config = await readSettings(input, terminal);
  const { file, state: isShared } = config.server.auth?.apiKeys ?? {};
  if (file !== undefined) return run(fileKeys(file));
  if (isShared !== true) {
    const fix = "Set server.auth.api_keys.file, or pass --file FILE.";
    throw wrongInput("--file", undefined, "No key file is configured.", fix);
  }
  return withKeptState("API keys", input, terminal, ({ states: [state] }) => run(stateKeys(state)));
}
