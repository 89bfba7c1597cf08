import { isArsenalError } from "../../../errors/arsenal-error.ts";
import { messageOf, nearest, showValue } from "../../../errors/show-value.ts";
import { keptAnswers } from "../../../registries/commit-server.ts";
import { chooseOption, optionsOf } from "../../../registries/install/choose.ts";
import { installOption } from "../../../registries/install/install-option.ts";
import { isFromFile, type LockedServer, readLock } from "../../../registries/lock-file.ts";
import { digestOf, prepareServer, vetEntry } from "../../../registries/prepare-server.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { wrongInput } from "../../input.ts";
import { note } from "../../terminal/style.ts";
import { report } from "./add.ts";
import { type AddedServer, carryOut } from "./carry-out.ts";
import { NO_SANDBOX } from "./registry-option.ts";
import { openHome, type RegistryCommand } from "./server-home.ts";

export const command: Command = {
  positionals: ["[NAME]"],
  options: {
    input: { value: "NAME=VALUE", repeatable: true, description: "Value that the new version needs" },
    locked: {
      description:
        "Fetch exactly the pinned versions again, for example after cloning the repository; a changed package is refused",
    },
    yes: { description: "Do not ask for confirmation; a version that looks dangerous is still refused" },
    ...NO_SANDBOX,
    "dry-run": { description: "Show the changes of tools and pins, and write nothing" },
  },
  examples: ["update", "update weather", "update weather@1.3.0 --dry-run", "update --locked --yes"],
  async run(input, terminal) {
    const opened = await openHome(input, terminal);
    const locked = await readLock(opened.home.config);
    const [asked] = input.positionals;
    const [wanted, version] = asked === undefined ? [] : asked.split("@");
    if (wanted !== undefined && !Object.hasOwn(locked, wanted)) {
      const near = nearest(wanted, Object.keys(locked));
      const fix =
        near === undefined
          ? "Only servers that toolarsenal add wrote can be updated."
          : `Did you mean ${showValue(near)}?`;
      throw wrongInput("NAME", wanted, `${showValue(wanted)} was not added with toolarsenal add.`, fix);
    }
    const names = wanted === undefined ? Object.keys(locked) : [wanted];
    const done: AddedServer[] = [];
    let failures = 0;
    for (const name of names) {
      const server = locked[name] as LockedServer;
      if (wanted === undefined && isFromFile(server)) {
        note(terminal, `${name} came from a file. Remove it and add the new file to update it.`);
        continue;
      }
      try {
        const updated = await updateOne(name, server, version, { input, terminal, opened });
        if (updated !== undefined) done.push(updated);
      } catch (error) {
        // If one server cannot be updated, the others are still updated.
        if (names.length === 1 || !isArsenalError(error)) throw error;
        failures++;
        terminal.err.write(`${name}: ${messageOf(error)}\n`);
      }
    }
    if (input.json) terminal.out.write(`${JSON.stringify({ updated: done }, undefined, 2)}\n`);
    else if (names.length === 0) note(terminal, "No server was added with toolarsenal add.");
    return failures === 0 ? 0 : 1;
  },
};

async function updateOne(
  name: string,
  before: LockedServer,
  version: string | undefined,
  { input, terminal, opened }: { readonly input: Input; readonly terminal: Terminal; readonly opened: RegistryCommand },
): Promise<AddedServer | undefined> {
  const { environment, signal } = terminal;
  const registry = opened.registries.find((each) => each.name === before.registry);
  if (registry === undefined) {
    const [problem, fix] = isFromFile(before)
      ? [`${name} came from a file, not from a registry.`, "Remove it and add the new file."]
      : [`${name} came from ${before.registry}, which is not a configured registry.`, "Add it under registries."];
    throw wrongInput("NAME", name, problem, fix);
  }
  const isLocked = input.flags.has("locked");
  const entry = await registry.get(before.name, isLocked ? before.version : version, { signal });
  if (entry === undefined)
    throw wrongInput(
      "NAME",
      name,
      `The registry ${registry.name} no longer has ${before.name}${version ? ` ${version}` : ""}.`,
      `Remove it with: toolarsenal remove ${name}`,
    );
  const found = { entry, allowPrivate: registry.allowPrivate, packageHosts: registry.packageHosts };
  await vetEntry(found, opened.home);
  if (!isLocked && entry.server.version === before.version && digestOf(entry.server) === before.entry) {
    if (!input.json) note(terminal, `${name} is up to date (${before.version}).`);
    return undefined;
  }
  if (!input.json) terminal.err.write(`${name}: ${before.version} → ${entry.server.version}\n`);
  const options = await optionsOf(entry.server, { environment, folder: terminal.folder });
  const option = chooseOption(
    options,
    options.some(({ kind }) => kind === before.kind) ? before.kind : undefined,
    before.name,
  );
  const { clock, egress } = opened.home;
  const prepared = await prepareServer(
    found,
    (staging) =>
      installOption(option, found, { environment, staging, clock, egress, allowPrivate: found.allowPrivate, signal }),
    opened.home,
    { replaces: name, signal },
  );
  if (!input.json) {
    const pins: readonly (readonly [string, string])[] = [
      ["package", prepared.installation.label],
      ["checksum", prepared.installation.checksum ?? "none"],
    ];
    for (const [what, now] of pins) {
      const was = what === "package" ? before.package : (before.checksum ?? "none");
      if (was !== now) terminal.err.write(`- ${what} ${was}\n+ ${what} ${now}\n`);
    }
  }
  const updated = await carryOut(prepared, opened.home, {
    input,
    terminal,
    kept: await keptAnswers(name, opened.home),
  });
  if (!input.json) report(updated, input, terminal);
  return updated;
}
