import { showValue } from "../../errors/show-value.ts";
import { isPrivate } from "../../guard/egress/without-trust.ts";
import type { DeclaredArgument, DeclaredPackage, DeclaredRemote, ServerJson } from "../read/server-json.ts";
import type { Danger } from "./danger.ts";
import { checkName, checkScope } from "./names.ts";
import { checkHeader, checkText, checkValue, checkVariable } from "./texts.ts";

interface PackageRules {
  readonly identifier: RegExp;
  /** Matches the public registry. */
  readonly host: RegExp;
  /** Programs that may run this kind of package. */
  readonly hints: readonly string[];
  /** Arguments of these programs without security effects. */
  readonly harmless: readonly string[];
}

const IMAGE =
  /^(?:[a-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(?:@sha256:[a-f0-9]{64})?$/;

const RULES: Readonly<Record<string, PackageRules>> = {
  npm: {
    identifier: /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i,
    host: /(?:^|\.)npmjs\.org$/,
    hints: ["npx", "npm", "node", "bunx", "pnpm"],
    harmless: ["-y", "--yes"],
  },
  pypi: {
    identifier: /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
    host: /^(?:files\.)?(?:pypi\.org|pythonhosted\.org)$/,
    hints: ["uvx", "uv", "python", "python3", "pipx"],
    harmless: [],
  },
  oci: {
    identifier: IMAGE,
    host: /^(?:docker\.io|index\.docker\.io|ghcr\.io|quay\.io|mcr\.microsoft\.com|gcr\.io|[a-z0-9-]+\.pkg\.dev|[a-z0-9-]+\.azurecr\.io)$/,
    hints: ["docker", "podman"],
    harmless: ["-i", "--interactive", "--rm", "--init"],
  },
  nuget: {
    identifier: /^[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?$/,
    host: /^(?:api|www)\.nuget\.org$/,
    hints: ["dnx", "dotnet"],
    harmless: ["--yes"],
  },
  mcpb: {
    identifier: /^https:\/\/[^\s"'<>\\]+$/,
    host: /^(?:github\.com|gitlab\.com)$/,
    hints: [],
    harmless: [],
  },
};

export const PACKAGE_KINDS: readonly string[] = Object.keys(RULES);

const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+_!-]{0,127}$/;
const SHA256 = /^[a-f0-9]{64}$/;
const MAX_LISTED = 200;

export interface EntryContext {
  readonly allowPrivate: boolean;
  readonly packageHosts: readonly string[];
  /** Full names of the existing servers. */
  readonly used: readonly string[];
}

/** Checks all registry data about a server. A server with any finding is refused. */
export function dangersOf(server: ServerJson, context: EntryContext): readonly Danger[] {
  const { name, version, packages = [], remotes = [] } = server;
  const [allPackages, allRemotes] = [packages.slice(0, MAX_LISTED), remotes.slice(0, MAX_LISTED)];
  return [
    ...checkName(name, context.used),
    ...checkVersion(version, "version"),
    ...allPackages.flatMap((each, index) => checkPackage(each, `packages.${index}`, context)),
    ...allRemotes.flatMap((each, index) => checkRemote(each, `remotes.${index}`, context)),
  ];
}

function checkVersion(version: string, field: string): readonly Danger[] {
  if (VERSION.test(version) && version !== "latest" && !/^\d+(?:\.\d+)*\.x$/i.test(version)) return [];
  return [{ field, reason: `is ${showValue(version)}, which is not one exact version`, value: version }];
}

function checkPackage(given: DeclaredPackage, field: string, context: EntryContext): readonly Danger[] {
  const { registryType: kind, identifier, version, fileSha256, registryBaseUrl, runtimeHint } = given;
  const rules = Object.hasOwn(RULES, kind) ? RULES[kind] : undefined;
  // A package of an unknown kind is not run.
  if (rules === undefined) return [];
  const at = (name: string): string => `${field}.${name}`;
  const dangers: Danger[] = [];
  if (!rules.identifier.test(identifier) || identifier.length > 500)
    dangers.push({
      field: at("identifier"),
      reason: `is ${showValue(identifier)}, which is not the name of a package of this kind`,
      value: identifier,
    });
  else if (kind === "npm") dangers.push(...checkScope(identifier, at("identifier")));
  if (version !== undefined) dangers.push(...checkVersion(version, at("version")));
  if (fileSha256 !== undefined && !SHA256.test(fileSha256))
    dangers.push({ field: at("fileSha256"), reason: "is not a SHA-256 in lower-case hexadecimal digits" });
  if (kind === "mcpb" && fileSha256 === undefined)
    dangers.push({ field: at("fileSha256"), reason: "is missing, so that the bundle cannot be verified" });
  const address = registryBaseUrl ?? (kind === "mcpb" ? identifier : undefined);
  const host = address === undefined ? undefined : URL.parse(address)?.hostname;
  if (address !== undefined && (host === undefined || !(rules.host.test(host) || context.packageHosts.includes(host))))
    dangers.push({
      field: at(registryBaseUrl === undefined ? "identifier" : "registryBaseUrl"),
      reason: `is ${showValue(address)}, not the public registry; if you trust it, add its host to package_hosts of the registry`,
      value: address,
    });
  if (runtimeHint !== undefined && runtimeHint !== "" && !rules.hints.includes(runtimeHint))
    dangers.push({
      field: at("runtimeHint"),
      reason: `is ${showValue(runtimeHint)}, which does not run packages of this kind`,
      value: runtimeHint,
    });
  for (const [index, argument] of (given.runtimeArguments ?? []).entries())
    dangers.push(...checkRuntimeArgument(argument, at(`runtimeArguments.${index}`), kind, rules));
  for (const [index, argument] of (given.packageArguments ?? []).entries())
    dangers.push(...checkArgument(argument, at(`packageArguments.${index}`)));
  for (const [index, variable] of (given.environmentVariables ?? []).entries())
    dangers.push(...checkVariable(variable, at(`environmentVariables.${index}`)));
  return dangers;
}

function checkArgument(argument: DeclaredArgument, field: string): readonly Danger[] {
  const { name } = argument;
  const isFlag = name === undefined || name === "" || /^-{0,2}[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name);
  const named = isFlag
    ? []
    : [{ field: `${field}.name`, reason: `is ${showValue(name)}, which is not a flag`, value: name }];
  return [...named, ...checkValue(argument, field)];
}

/** Accepts only harmless arguments. Other arguments of npx, uvx or docker can run other code or give access to the machine. */
function checkRuntimeArgument(
  argument: DeclaredArgument,
  field: string,
  kind: string,
  { harmless }: PackageRules,
): readonly Danger[] {
  const { name, value } = argument;
  const written = name ?? value ?? "";
  if (harmless.includes(written)) return [];
  const isDockerSetting = kind === "oci" && (/^(?:-e|--env)$/.test(written) || isOwnMount(argument));
  if (isDockerSetting) return checkArgument(argument, field);
  return [{ field, reason: `passes ${showValue(written)} to the program that runs the package`, value: written }];
}

/** Returns true for a mount of a folder that the user names. */
function isOwnMount({ name = "", value = "", variables }: DeclaredArgument): boolean {
  if (!/^(?:-v|--volume|--mount)$/.test(name) || /docker\.sock|propagation|:.*[,:](?:z|shared|rshared)/.test(value))
    return false;
  const [, source = ""] = /(?:^|,)(?:src|source)=([^,]*)/.exec(value) ?? /^([^:]*):/.exec(value) ?? [];
  const [, variable = ""] = /^\{(\w+)\}$/.exec(source) ?? [];
  const declared = variables?.[variable];
  return declared !== undefined && declared.value === undefined && declared.default === undefined;
}

function checkRemote(given: DeclaredRemote, field: string, { allowPrivate }: EntryContext): readonly Danger[] {
  const { url = "", headers = [], variables = {} } = given;
  const dangers: Danger[] = [...checkText(url, `${field}.url`), ...checkValue({ variables } as never, field)];
  // Variables may be in the path or in a subdomain, but may not replace the whole host.
  const sample = URL.parse(url.replaceAll(/\{\w+\}/g, "x"));
  const problem =
    sample === null || !/^https?:\/\/[^/{]*[a-z0-9]/i.test(url)
      ? "is not an address with a fixed host"
      : sample.username !== "" || sample.password !== ""
        ? "has a user name or password"
        : allowPrivate
          ? undefined
          : sample.protocol !== "https:"
            ? "does not use https"
            : isPrivate(sample.href)
              ? "is an address of this machine or a private network"
              : undefined;
  if (problem !== undefined)
    dangers.push({ field: `${field}.url`, reason: `${problem}: ${showValue(url)}`, value: url });
  for (const [index, header] of headers.entries()) dangers.push(...checkHeader(header, `${field}.headers.${index}`));
  return dangers;
}
