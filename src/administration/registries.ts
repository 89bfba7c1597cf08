import { fixable } from "../errors/arsenal-error.ts";
import { showValue } from "../errors/show-value.ts";
import type { Principal } from "../guard/principal.ts";
import { createSecrets } from "../guard/secrets/secrets.ts";
import type { RegistryAdministration, RegistryServer, RegistryTrial } from "../serve/registry/administration.ts";
import type { RegistryEntry } from "../registries/read/server-json.ts";
import type { AdministrationParts } from "./administration.ts";

type Parts = Pick<AdministrationParts, "config" | "egress" | "clock">;

/** Finds and adds servers of registries for operators. The code is loaded with the first request. */
export function createRegistryAdministration({ config, egress, clock }: Parts): RegistryAdministration {
  const secrets = createSecrets({ clock });
  const environment = process.env;

  async function registries(named: string | undefined) {
    const { openRegistries } = await import("../registries/read/registry.ts");
    const all = openRegistries(config.registries, { egress, secrets, clock });
    const chosen = named === undefined ? all : all.filter(({ name }) => name === named);
    if (named === undefined || chosen.length > 0) return chosen;
    const fix = `There are: ${all.map(({ name }) => name).join(", ")}.`;
    throw fixable("INPUT_INVALID", `No registry is named ${showValue(named)}.`, fix, {
      field: "registry",
      value: named,
    });
  }

  /** Returns the configuration that servers are added to. Only callers with access to this machine may change it and run programs. */
  function homeOf(by: Principal) {
    if (!by.local && !config.server.allowCommands) {
      const problem = `"${by.id}" may not add servers of registries, which run on the gateway's machine.`;
      throw fixable(
        "PERMISSION_DENIED",
        problem,
        "Add it with toolarsenal add there, or set server.allow_commands to true.",
      );
    }
    const [file] = config.readFrom ?? [];
    if (file === undefined) {
      const fix = "Start the gateway with --config arsenal.yaml.";
      throw fixable("CONFIG_INVALID", "The gateway has no configuration file to write to.", fix, { field: "config" });
    }
    const { enableSandbox, sandboxType } = config.execution;
    return {
      config: file,
      environment,
      clock,
      egress,
      secrets,
      envPassthrough: config.mcp.envPassthrough,
      sandbox: enableSandbox && sandboxType !== "none" ? sandboxType : undefined,
      severity: config.security.scan.severity,
    };
  }

  async function findOptions(signal: AbortSignal) {
    const { defaultCache } = await import("../adapters/embedders/cache-folder.ts");
    return { cache: defaultCache(environment), clock, signal };
  }

  return {
    async find({ query, registry, limit }, { signal }) {
      const { listServers, rankServers } = await import("../registries/find-servers.ts");
      const { entries, remarks } = await listServers(await registries(registry), await findOptions(signal));
      const ranked = await rankServers(entries, query, { limit, signal });
      return { servers: ranked.map(summaryOf), remarks };
    },
    async get({ name, version, registry }, { signal }) {
      const { findServer } = await import("../registries/find-servers.ts");
      const { optionsOf } = await import("../registries/install/choose.ts");
      const { declaredInputs } = await import("../registries/install/declared.ts");
      const chosen = await registries(registry);
      const found = await findServer(chosen, { name, version }, await findOptions(signal));
      const { server } = found.entry;
      const options = await optionsOf(server, { environment, folder: process.cwd() });
      const versions = await chosen
        .find((each) => each.name === found.entry.registry)
        ?.versions(server.name, { signal });
      return {
        ...summaryOf(found.entry),
        versions: (versions ?? []).slice(0, 50).map((each) => each.server.version),
        options: options.map((option) => ({
          kind: option.kind,
          label: option.label,
          ...(option.missing !== undefined && { missing: option.missing }),
          inputs: declaredInputs(option),
        })),
      };
    },
    async add({ name, version, registry, kind, as, inputs = {}, confirm, checksum }, by, { signal }) {
      const home = homeOf(by);
      const { findServer } = await import("../registries/find-servers.ts");
      const { chooseOption, optionsOf } = await import("../registries/install/choose.ts");
      const { installOption } = await import("../registries/install/install-option.ts");
      const { prepareServer, vetEntry } = await import("../registries/prepare-server.ts");
      const found = await findServer(await registries(registry), { name, version }, await findOptions(signal));
      await vetEntry(found, home);
      const option = chooseOption(
        await optionsOf(found.entry.server, { environment, folder: process.cwd() }),
        kind,
        name,
      );
      const context = { environment, clock, egress, allowPrivate: found.allowPrivate, signal };
      const prepared = await prepareServer(
        found,
        (staging) => installOption(option, found, { ...context, staging }),
        home,
        { as, signal },
      );
      try {
        const tried = await prepared.try(inputs);
        const shown: RegistryTrial = {
          name: prepared.name,
          server: found.entry.server.name,
          version: found.entry.server.version,
          kind: option.kind,
          package: prepared.installation.label,
          ...(tried.locked.checksum !== undefined && { checksum: tried.locked.checksum }),
          tools: tried.trial.tools.map((tool) => ({ name: tool.name, description: tool.description })),
          findings: tried.trial.findings,
          remarks: prepared.installation.remarks,
          ...(tried.trial.needsSignIn === true && { needsSignIn: true }),
          persisted: false,
        };
        if (!confirm) return shown;
        const { refusedServer } = await import("../registries/entry/danger.ts");
        if (tried.severe.length > 0) {
          const dangers = tried.severe.map(({ subject, message }) => ({
            field: subject,
            reason: `looks like an attack: ${message}`,
          }));
          throw refusedServer(shown.server, dangers);
        }
        if (checksum !== undefined && checksum !== tried.locked.checksum)
          throw refusedServer(shown.server, [{ field: "checksum", reason: "is not the one that was shown" }]);
        const { commitServer } = await import("../registries/commit-server.ts");
        await commitServer(prepared, tried, home);
        return { ...shown, persisted: true };
      } finally {
        await prepared.discard();
      }
    },
  };
}

function summaryOf({ server, registry, status, statusMessage, publishedAt }: RegistryEntry): RegistryServer {
  const { name, version, description = "", title, repository } = server;
  const kinds = [
    ...(server.packages ?? []).map((each) => each.registryType),
    ...(server.remotes ?? []).map(() => "remote"),
  ];
  return {
    name,
    publisher: name.slice(0, Math.max(0, name.indexOf("/"))),
    version,
    description,
    registry,
    status,
    kinds: [...new Set(kinds)],
    ...(title !== undefined && { title }),
    ...(statusMessage !== undefined && { statusMessage }),
    ...(publishedAt !== undefined && { publishedAt }),
    ...(repository?.url !== undefined && { repository: repository.url }),
  };
}
