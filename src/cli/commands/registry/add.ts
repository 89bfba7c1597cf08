import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf, showValue } from "../../../errors/show-value.ts";
import { findServer } from "../../../registries/find-servers.ts";
import { MAX_BUNDLE_BYTES } from "../../../registries/install/bundle.ts";
import { prepareFromBundle } from "../../../registries/prepare-bundle.ts";
import { chooseOption, OPTION_KINDS, optionsOf } from "../../../registries/install/choose.ts";
import { installOption } from "../../../registries/install/install-option.ts";
import {
  checkFree,
  type FoundServer,
  type PreparedServer,
  prepareServer,
  vetEntry,
} from "../../../registries/prepare-server.ts";
import { readEntry, shortName } from "../../../registries/read/server-json.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { readChoice, wrongInput } from "../../input.ts";
import { PROGRAM } from "../../program.ts";
import { note } from "../../terminal/style.ts";
import { type AddedServer, carryOut } from "./carry-out.ts";
import { NO_SANDBOX, REGISTRY } from "./registry-option.ts";
import { openHome, type RegistryCommand } from "./server-home.ts";
import { showEntry } from "./show-server.ts";

export const command: Command = {
  positionals: ["[NAME]"],
  options: {
    file: { value: "FILE", description: "Add the server of this server.json, without a registry" },
    ...REGISTRY,
    kind: {
      value: "K",
      description: `Kind of package to use: ${OPTION_KINDS.join(", ")}`,
      fallback: "the first that can run on this machine",
    },
    as: {
      value: "NAME",
      description: "Name of the server in the configuration",
      fallback: "the last part of its full name",
    },
    input: {
      value: "NAME=VALUE",
      repeatable: true,
      description: "Value that the server needs; a secret may be a reference: env:VARIABLE or file:/PATH",
    },
    yes: { description: "Do not ask for confirmation; a server that looks dangerous is still refused" },
    ...NO_SANDBOX,
    "dry-run": { description: "Check the server, but write nothing" },
  },
  examples: [
    "add io.github.octo/weather",
    "add io.github.octo/weather@1.2.0 --input WEATHER_API_KEY=env:WEATHER_KEY --yes",
    "add --file server.json",
    "add ./weather.mcpb",
  ],
  async run(input, terminal) {
    const opened = await openHome(input, terminal);
    const prepared = await prepare(input, terminal, opened);
    const added = await carryOut(prepared, opened.home, { input, terminal });
    return report(added, input, terminal);
  },
};

async function prepare(input: Input, terminal: Terminal, opened: RegistryCommand): Promise<PreparedServer> {
  const [name] = input.positionals;
  const { file, as } = input.options;
  const kind = readChoice(input, "kind", OPTION_KINDS);
  if ((name === undefined) === (file === undefined))
    throw wrongInput(
      "NAME",
      name,
      "add needs a name, a bundle or --file, and one of them only.",
      "For example: toolarsenal add io.github.octo/weather",
    );
  if (name?.endsWith(".mcpb")) return prepareBundle(name, input, terminal, opened);
  const { name: asked, version } = divideVersion(name ?? "");
  // Before the registry is asked.
  if (as !== undefined || file === undefined) await checkFree(as ?? shortName({ name: asked }), opened.home);
  const found =
    file === undefined
      ? await search({ name: asked, version }, terminal, opened)
      : await readServerFile(file, terminal);
  await vetEntry(found, opened.home);
  const { environment, signal } = terminal;
  const options = await optionsOf(found.entry.server, { environment, folder: terminal.folder });
  if (!input.json) showEntry(found.entry, options, terminal);
  const option = chooseOption(options, kind, found.entry.server.name);
  if (!input.json) note(terminal, `Fetching ${option.kind} ${option.label}…`);
  const { clock, egress } = opened.home;
  const install = (staging: string): ReturnType<typeof installOption> =>
    installOption(option, found, { environment, staging, clock, egress, allowPrivate: found.allowPrivate, signal });
  return prepareServer(found, install, opened.home, { as, signal });
}

/** Divides `NAME@VERSION`. */
function divideVersion(text: string): { readonly name: string; readonly version?: string | undefined } {
  const at = text.lastIndexOf("@");
  return at > 0 ? { name: text.slice(0, at), version: text.slice(at + 1) } : { name: text };
}

async function search(
  asked: ReturnType<typeof divideVersion>,
  terminal: Terminal,
  { registries, find }: RegistryCommand,
): Promise<FoundServer> {
  const found = await findServer(registries, asked, find);
  for (const remark of found.remarks) terminal.err.write(`${remark}\n`);
  return found;
}

/** Reads a server.json from a file. Its addresses are checked like those from a registry. */
async function readServerFile(file: string, terminal: Terminal): Promise<FoundServer> {
  const path = resolve(terminal.folder, file);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw wrongInput(
      "--file",
      file,
      `${file} cannot be read: ${messageOf(error).replace(/\.$/, "")}.`,
      "Check the path and the JSON.",
    );
  }
  const entry = readEntry(value, "file");
  if (!("server" in entry))
    throw wrongInput(
      entry.field,
      undefined,
      `${file} is not a server.json: ${entry.field} ${entry.message}.`,
      "Fix it.",
    );
  return { entry, allowPrivate: false, packageHosts: [] };
}

async function prepareBundle(
  file: string,
  input: Input,
  terminal: Terminal,
  opened: RegistryCommand,
): Promise<PreparedServer> {
  const path = resolve(terminal.folder, file);
  if (!existsSync(path)) throw wrongInput("NAME", file, `There is no file ${showValue(file)}.`, "Check the path.");
  const { size } = await stat(path);
  if (size > MAX_BUNDLE_BYTES)
    throw wrongInput(
      "NAME",
      file,
      `${showValue(file)} has ${size} bytes, and a bundle has at most ${MAX_BUNDLE_BYTES}.`,
      "Choose another bundle.",
    );
  return prepareFromBundle(await readFile(path), file, opened.home, {
    as: input.options["as"],
    signal: terminal.signal,
  });
}

export function report(added: AddedServer | undefined, input: Input, terminal: Terminal): number {
  if (added === undefined) {
    if (input.json) terminal.out.write("null\n");
    else terminal.err.write("Nothing was written.\n");
    return 1;
  }
  if (input.json) terminal.out.write(`${JSON.stringify(added, undefined, 2)}\n`);
  else if (added.written.length === 0) terminal.err.write(`Dry run: ${added.name} was not written.\n`);
  else {
    terminal.out.write(`${added.name} ${added.version}\n`);
    terminal.err.write(`Written: ${added.written.join(", ")}\n`);
    const next = added.needsSignIn === true ? `login ${added.name}` : `list --namespace ${added.name}`;
    note(terminal, `Next: ${PROGRAM} ${next}`);
  }
  return 0;
}
