import { resolve } from "node:path";
import { defaultCache } from "../../../adapters/embedders/cache-folder.ts";
import type { Surroundings } from "../../../adapters/surroundings.ts";
import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import type { FindOptions } from "../../../registries/find-servers.ts";
import type { ServerHome } from "../../../registries/prepare-server.ts";
import { openRegistries, type Registry } from "../../../registries/read/registry.ts";
import { createSurroundings } from "../../../wire/surroundings.ts";
import { configPath, readSettings } from "../../arsenal/open-arsenal.ts";
import type { Input, Terminal } from "../../command.ts";

/** The configuration that a command edits, and its registries. */
export interface RegistryCommand {
  readonly home: ServerHome;
  readonly registries: readonly Registry[];
  readonly find: FindOptions;
  readonly surroundings: Surroundings;
}

/** Reads the configuration of a command, without any requests. */
export async function openHome(input: Input, terminal: Terminal): Promise<RegistryCommand> {
  const config = configPath(input, terminal) ?? resolve(terminal.folder, "arsenal.yaml");
  const settings = await readSettings(input, terminal);
  const { environment, signal } = terminal;
  const surroundings = createSurroundings(settings, terminal);
  const { enableSandbox, sandboxType } = settings.execution;
  const isConfined = enableSandbox && !input.flags.has("no-sandbox");
  const registries = openRegistries(settings.registries, surroundings);
  const { registry } = input.options;
  const chosen = registry === undefined ? registries : registries.filter(({ name }) => name === registry);
  if (registry !== undefined && chosen.length === 0) {
    const names = registries.map(({ name }) => name).join(", ");
    const problem = `No registry is named ${showValue(registry)}.`;
    throw fixable("INPUT_INVALID", problem, `There are: ${names}.`, { field: "--registry", value: registry });
  }
  return {
    home: {
      config,
      environment,
      clock: surroundings.clock,
      egress: surroundings.egress,
      secrets: surroundings.secrets,
      envPassthrough: settings.mcp.envPassthrough,
      sandbox: isConfined && sandboxType !== "none" ? sandboxType : undefined,
      severity: settings.security.scan.severity,
    },
    registries: chosen,
    find: { cache: defaultCache(environment), clock: surroundings.clock, signal },
    surroundings,
  };
}
