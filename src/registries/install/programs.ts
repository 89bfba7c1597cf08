import { fixable, isArsenalError } from "../../errors/arsenal-error.ts";
import { showValue } from "../../errors/show-value.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { sha256 } from "../../base/crypto.ts";
import { refusedServer } from "../entry/danger.ts";
import type { DeclaredPackage } from "../read/server-json.ts";
import { declaredCommand, readArgument } from "./declared.ts";
import { download } from "./download.ts";
import type { ArgumentDraft } from "./draft.ts";
import type { InstallContext, Installation } from "./installation.ts";
import { runProgram } from "./run-program.ts";

const MAX_ANSWER = 8 * 1024 * 1024;

/** Prepares a PyPI package. uv runs it at its exact version. The checksum is made of the hashes that the index lists for the version. */
export async function installPypi(
  declared: DeclaredPackage,
  serverName: string,
  context: InstallContext,
): Promise<Installation> {
  const { identifier, version = "", fileSha256 } = declared;
  requireVersion(version, serverName);
  const { args, env, inputs } = declaredCommand(declared);
  const hashes = await listedHashes(identifier, version, context);
  if (fileSha256 !== undefined && hashes !== undefined && !hashes.includes(fileSha256))
    throw refusedServer(serverName, [
      {
        field: "packages.fileSha256",
        reason: `is ${fileSha256.slice(0, 12)}…, which no file of ${identifier} ${version} has`,
      },
    ]);
  return {
    kind: "pypi",
    label: `${identifier}==${version}`,
    ...(hashes !== undefined && { checksum: `sha256:${sha256([...hashes].sort().join("\n"))}` }),
    inputs,
    draft: () => ({ command: "uvx", args: [{ template: [`${identifier}@${version}`] }, ...args], env }),
    remarks: hashes === undefined ? ["The package index lists no checksums; only the version is pinned."] : [],
  };
}

const PUBLIC_INDEX = new URL("simple/", "https://pypi.org/").href;
const INDEX_JSON = "application/vnd.pypi.simple.v1+json";

/** Returns the SHA-256 of each file of a version, from the index that uv uses; undefined if the index cannot be queried. */
async function listedHashes(
  identifier: string,
  version: string,
  context: InstallContext,
): Promise<readonly string[] | undefined> {
  const { environment, signal } = context;
  const configured = environment["UV_DEFAULT_INDEX"] || environment["UV_INDEX_URL"] || environment["PIP_INDEX_URL"];
  const project = identifier.toLowerCase().replaceAll(/[-_.]+/g, "-");
  const address = `${(configured ?? PUBLIC_INDEX).replace(/\/?$/, "/")}${project}/`;
  try {
    const options = { ...context, accept: INDEX_JSON, trusted: configured !== undefined };
    const answer: unknown = JSON.parse((await download(address, options, MAX_ANSWER)).toString("utf8"));
    const files: readonly unknown[] = isPlainObject(answer) && Array.isArray(answer["files"]) ? answer["files"] : [];
    const hashes = files.flatMap((file) => {
      if (!isPlainObject(file) || !isPlainObject(file["hashes"]) || typeof file["filename"] !== "string") return [];
      const [, of] = /^[^-]+-([^-]+?)(?:-.*\.whl|\.tar\.gz|\.zip)$/.exec(file["filename"]) ?? [];
      const digest = file["hashes"]["sha256"];
      return of === version && typeof digest === "string" ? [digest] : [];
    });
    return hashes.length === 0 ? undefined : hashes;
  } catch (error) {
    if (signal?.aborted === true || !(isArsenalError(error) || error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** Prepares a NuGet package. dnx runs it at its exact version. */
export async function installNuget(declared: DeclaredPackage, serverName: string): Promise<Installation> {
  const { identifier, version = "" } = declared;
  requireVersion(version, serverName);
  const { args, env, inputs } = declaredCommand(declared);
  const rest: readonly ArgumentDraft[] = args.length === 0 ? [] : [{ template: ["--"] }, ...args];
  return {
    kind: "nuget",
    label: `${identifier}@${version}`,
    inputs,
    draft: () => ({
      command: "dnx",
      args: [{ template: [`${identifier}@${version}`] }, { flag: "--yes" }, ...rest],
      env,
    }),
    remarks: ["dnx checks the signatures of NuGet; only the version is pinned here."],
  };
}

const DIGEST = /@(sha256:[a-f0-9]{64})$/;

/** Prepares a container image. It is pulled once and pinned by its digest. */
export async function installImage(
  declared: DeclaredPackage,
  serverName: string,
  context: InstallContext,
): Promise<Installation> {
  const { identifier, version } = declared;
  const { environment, staging, signal } = context;
  const isTagged = /:[^/]+$/.test(identifier) || DIGEST.test(identifier);
  if (!isTagged && version === undefined) requireVersion("", serverName);
  const image = isTagged ? identifier : `${identifier}:${version}`;
  const run = (args: readonly string[]): Promise<string> =>
    runProgram("docker", args, { environment, cwd: staging, signal });
  await run(["pull", "--quiet", image]);
  const digests: unknown = JSON.parse(await run(["image", "inspect", "--format", "{{json .RepoDigests}}", image]));
  const pinned = (Array.isArray(digests) ? digests : []).find(
    (each) => typeof each === "string" && DIGEST.test(each),
  ) as string | undefined;
  const [, digest] = DIGEST.exec(pinned ?? "") ?? [];
  if (pinned === undefined || digest === undefined)
    throw fixable(
      "SOURCE_UNAVAILABLE",
      `The image ${showValue(image)} has no digest.`,
      "Choose another package: --kind.",
      { field: "docker" },
    );
  const [, named] = DIGEST.exec(identifier) ?? [];
  if (named !== undefined && named !== digest)
    throw refusedServer(serverName, [
      {
        field: "packages.identifier",
        reason: `names ${named.slice(0, 19)}…, and the image is ${digest.slice(0, 19)}…`,
      },
    ]);
  const { args, env, inputs } = declaredCommand(declared);
  const runtime = (declared.runtimeArguments ?? [])
    .filter(({ name, value }) => !/^(?:-i|--interactive|--rm|--init)$/.test(name ?? value ?? ""))
    .map(readArgument);
  const passed = Object.keys(env).map((name): ArgumentDraft => ({ flag: "-e", template: [name] }));
  return {
    kind: "oci",
    label: image,
    checksum: digest,
    inputs: [...inputs, ...runtime.flatMap((each) => each.inputs)],
    draft: () => ({
      command: "docker",
      args: [
        ...["run", "-i", "--rm"].map((word): ArgumentDraft => ({ template: [word] })),
        ...passed,
        ...runtime.map(({ argument }) => argument),
        { template: [pinned] },
        ...args,
      ],
      env,
    }),
    remarks: [],
  };
}

function requireVersion(version: string, serverName: string): void {
  if (version === "")
    throw refusedServer(serverName, [
      { field: "packages.version", reason: "is missing, so that nothing can be pinned" },
    ]);
}
