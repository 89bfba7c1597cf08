import { fixable } from "../../errors/arsenal-error.ts";
import { succeeds } from "../../base/turns/succeeds.ts";
import { findProgram } from "../../system/find-program.ts";
import type { DeclaredPackage, DeclaredRemote, ServerJson } from "../read/server-json.ts";
import { PACKAGE_KINDS } from "../entry/packages.ts";
import { runProgram } from "./run-program.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** One way to run a server. */
export interface ServerOption {
  /** `npm`, `pypi`, `oci`, `nuget`, `mcpb` or `remote`. */
  readonly kind: string;
  /** The package or the address. */
  readonly label: string;
  readonly package?: DeclaredPackage;
  readonly remote?: DeclaredRemote;
  /** The reason why this option cannot run here, with the fix. Omitted if it can run. */
  readonly missing?: string;
}

/** Valid values of `--kind`. */
export const OPTION_KINDS: readonly string[] = [...PACKAGE_KINDS, "remote"];

/** Lists the ways to run a server, in the order of its entry: packages first. The only program that it may run is `docker version`. */
export async function optionsOf(
  { packages = [], remotes = [] }: ServerJson,
  context: { readonly environment: Environment; readonly folder: string },
): Promise<readonly ServerOption[]> {
  const local = packages.map(async (each): Promise<ServerOption> => {
    const missing = await missingFor(each, context);
    const label = each.version === undefined ? each.identifier : `${each.identifier} ${each.version}`;
    return { kind: each.registryType, label, package: each, ...(missing !== undefined && { missing }) };
  });
  const elsewhere = remotes.map((each): ServerOption => ({ kind: "remote", label: each.url ?? "", remote: each }));
  return [...(await Promise.all(local)), ...elsewhere];
}

/** Returns the first option that can run here, of the wanted kind if one is given. Throws SOURCE_UNAVAILABLE with the missing programs. */
export function chooseOption(options: readonly ServerOption[], kind: string | undefined, name: string): ServerOption {
  const offered = kind === undefined ? options : options.filter((each) => each.kind === kind);
  if (offered.length === 0) {
    const kinds = [...new Set(options.map((each) => each.kind))].join(", ");
    const fix = kinds === "" ? "Choose another server." : `It has: ${kinds}.`;
    const problem = kind === undefined ? `${name} has no package and no address.` : `${name} has no ${kind} package.`;
    throw fixable("INPUT_INVALID", problem, fix, { field: "kind", value: kind });
  }
  const usable = offered.find(({ missing }) => missing === undefined);
  if (usable !== undefined) return usable;
  const reasons = offered.map((each) => `${each.kind}: ${each.missing ?? ""}`).join(" ");
  throw fixable(
    "SOURCE_UNAVAILABLE",
    `${name} cannot run here. ${reasons}`,
    "Install what is missing, then add it again.",
    { field: "kind" },
  );
}

async function missingFor(
  { registryType: kind, transport }: DeclaredPackage,
  context: { readonly environment: Environment; readonly folder: string },
): Promise<string | undefined> {
  const { environment, folder } = context;
  const has = (program: string): boolean => findProgram(program, environment["PATH"] ?? "") !== undefined;
  if (!PACKAGE_KINDS.includes(kind)) return `Packages of the kind ${JSON.stringify(kind)} are not supported.`;
  if (transport.type !== "stdio") return "It serves HTTP instead of stdio: start it yourself, and configure its url.";
  switch (kind) {
    case "npm":
      return has("npm") && has("node") ? undefined : "npm is not installed. Install Node.js, which brings it.";
    case "pypi": {
      const python =
        has("python3") || has("python") ? " (Python alone is not enough: uv installs the exact version)" : "";
      return has("uvx") ? undefined : `uv is not installed${python}. Install it from docs.astral.sh/uv.`;
    }
    case "nuget":
      return has("dnx") ? undefined : "dnx is not installed. Install the .NET SDK 10 or newer.";
    case "oci": {
      if (!has("docker")) return "Docker is not installed.";
      const answers = await succeeds(() =>
        runProgram("docker", ["version", "--format", "{{.Server.Version}}"], { environment, cwd: folder }),
      );
      return answers ? undefined : "Docker is installed, but its daemon does not answer. Start it.";
    }
    default:
      return undefined;
  }
}
