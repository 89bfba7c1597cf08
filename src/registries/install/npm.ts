import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fixable } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { type Danger, refusedServer } from "../entry/danger.ts";
import type { DeclaredPackage } from "../read/server-json.ts";
import { declaredCommand } from "./declared.ts";
import type { InstallContext, Installation } from "./installation.ts";
import { runProgram } from "./run-program.ts";

/**
 * Installs one exact version of an npm package into a new folder, with npm and its configuration. No package script runs: npm packs the tarball, its
 * hash is checked, and it is installed with `--ignore-scripts`. The lock file records the hash of every dependency.
 */
export async function installNpm(
  declared: DeclaredPackage,
  serverName: string,
  context: InstallContext,
): Promise<Installation> {
  const { identifier, version = "", fileSha256 } = declared;
  const { staging, environment, signal } = context;
  const label = `${identifier}@${version}`;
  if (version === "")
    throw refusedServer(serverName, [
      { field: "packages.version", reason: "is missing, so that nothing can be pinned" },
    ]);
  await writeFile(join(staging, "package.json"), '{"private":true}\n');
  const run = (args: readonly string[]): Promise<string> =>
    runProgram("npm", args, { environment, cwd: staging, signal });
  const packed = parsePacked(
    await run(["pack", label, "--json", "--ignore-scripts", "--pack-destination", staging]),
    label,
  );
  const tarball = join(staging, packed.filename);
  const bytes = await readFile(tarball);
  const checksum = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const dangers: Danger[] = [];
  if (packed.integrity !== checksum)
    dangers.push({ field: "packages.identifier", reason: `is ${label}, whose file is not the one that npm announced` });
  if (fileSha256 !== undefined && fileSha256 !== sha256)
    dangers.push({
      field: "packages.fileSha256",
      reason: `is ${fileSha256.slice(0, 12)}…, and the file has ${sha256.slice(0, 12)}…`,
    });
  if (dangers.length > 0) throw refusedServer(serverName, dangers);
  await run(["install", tarball, "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"]);
  await rm(tarball, { force: true });
  const folder = join(staging, "node_modules", ...identifier.split("/"));
  const manifest = await readManifest(folder, label);
  const owner = manifest["mcpName"];
  if (typeof owner === "string" && owner !== serverName)
    throw refusedServer(serverName, [
      {
        field: "packages.identifier",
        reason: `is ${label}, which belongs to the server ${showValue(owner)}`,
        value: identifier,
      },
    ]);
  const program = await programOf(manifest, folder, label);
  const { args, env, inputs } = declaredCommand(declared);
  const path = ["node_modules", ...identifier.split("/"), ...program.split(sep)].join("/");
  return {
    kind: "npm",
    label,
    checksum,
    staged: staging,
    inputs,
    draft: (at) => ({ command: "node", args: [{ template: [`${at}/${path}`] }, ...args], env }),
    remarks:
      owner === undefined
        ? [`${label} does not name its server (mcpName in package.json), so its publisher is not verified.`]
        : [],
  };
}

function parsePacked(output: string, label: string): { readonly filename: string; readonly integrity: string } {
  try {
    const [packed] = JSON.parse(output) as unknown[];
    const { filename, integrity } = packed as Record<string, unknown>;
    if (typeof filename === "string" && typeof integrity === "string" && !/[/\\]|^\./.test(filename))
      return { filename, integrity };
  } catch {
    // The error below covers this case.
  }
  throw fixable("SOURCE_UNAVAILABLE", `npm did not report the package that it packed for ${label}.`, "Update npm.", {
    field: "npm",
  });
}

async function readManifest(folder: string, label: string): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  if (isPlainObject(value)) return value;
  throw fixable("SOURCE_UNAVAILABLE", `${label} has no usable package.json.`, "Choose another version.", {
    field: "npm",
  });
}

/** Returns the script of the package, relative to its folder. The script must be inside the package. */
async function programOf(manifest: Readonly<Record<string, unknown>>, folder: string, label: string): Promise<string> {
  const { name, bin } = manifest;
  const own = String(name).replace(/^@[^/]+\//, "");
  const programs = isPlainObject(bin) ? bin : {};
  const found = typeof bin === "string" ? bin : (programs[own] ?? Object.values(programs)[0]);
  const path = typeof found === "string" ? join(folder, found) : undefined;
  if (path === undefined || !existsSync(path))
    throw fixable("SOURCE_UNAVAILABLE", `${label} has no program to run.`, "Choose another package or version.", {
      field: "npm",
    });
  const inside = relative(realpathSync(folder), realpathSync(path));
  if (inside.startsWith("..")) throw refusedServer(label, [{ field: "bin", reason: "leads out of the package" }]);
  const first = (await readFile(path, "utf8")).slice(0, 200).split("\n")[0] ?? "";
  if (!/\.[cm]?js$/.test(path) && !/^#!.*\bnode\b/.test(first))
    throw fixable("SOURCE_UNAVAILABLE", `${label} is not run by Node.`, "Choose another kind of package: --kind.", {
      field: "npm",
    });
  return inside;
}
