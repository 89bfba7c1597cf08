import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256 } from "../../base/crypto.ts";
import { bundleDraft } from "../bundle/bundle-draft.ts";
import { type BundleManifest, readManifest } from "../bundle/manifest.ts";
import { isSigned, readZip, type ZipFile } from "../bundle/read-zip.ts";
import { refusedServer } from "../entry/danger.ts";
import type { DeclaredPackage } from "../read/server-json.ts";
import { makeFolder } from "../../system/make-folder.ts";
import { declaredCommand } from "./declared.ts";
import { download } from "./download.ts";
import type { InstallContext, Installation } from "./installation.ts";

/** Maximum size of a bundle, in bytes. */
export const MAX_BUNDLE_BYTES: number = 256 * 1024 * 1024;

const LIMITS = { maxFiles: 50_000, maxBytes: 1024 * 1024 * 1024 };

/** A bundle whose file list and manifest were read. */
export interface OpenedBundle {
  readonly files: readonly ZipFile[];
  readonly manifest: BundleManifest;
  readonly checksum: string;
  readonly isSigned: boolean;
}

/** Reads a bundle. Throws SERVER_REFUSED for an unsafe archive and INPUT_INVALID for an invalid manifest. Writes nothing. */
export function openBundle(bytes: Buffer, label: string): OpenedBundle {
  const files = readZip(bytes, LIMITS);
  const described = files.find(({ name }) => name === "manifest.json");
  if (described === undefined) throw refusedServer(label, [{ field: "bundle", reason: "has no manifest.json" }]);
  const checksum = `sha256:${sha256(bytes)}`;
  return { files, manifest: readManifest(described.read()), checksum, isSigned: isSigned(bytes) };
}

/** Checks the command of a bundle, and unpacks the bundle if the command is safe. */
export async function installBundle(
  { files, manifest, checksum, isSigned: hasSignature }: OpenedBundle,
  label: string,
  { staging }: Pick<InstallContext, "staging">,
): Promise<Installation> {
  const { inputs, draft } = bundleDraft(manifest, new Set(files.map(({ name }) => name)));
  for (const file of files) {
    const path = join(staging, file.name);
    await makeFolder(dirname(path), 0o700);
    await writeFile(path, file.read(), { flag: "wx", mode: file.isExecutable ? 0o700 : 0o600 });
  }
  const remarks = hasSignature ? ["The bundle is signed. Its signature was not checked."] : [];
  return { kind: "mcpb", label, checksum, staged: staging, inputs, draft, remarks };
}

/** Downloads the bundle of a registry's entry and checks its hash. */
export async function installRemoteBundle(
  declared: DeclaredPackage,
  serverName: string,
  context: InstallContext,
): Promise<Installation> {
  const { identifier, fileSha256 = "" } = declared;
  const bytes = await download(identifier, context, MAX_BUNDLE_BYTES);
  const found = sha256(bytes);
  if (found !== fileSha256)
    throw refusedServer(serverName, [
      {
        field: "packages.fileSha256",
        reason: `is ${fileSha256.slice(0, 12)}…, and the bundle has ${found.slice(0, 12)}…`,
      },
    ]);
  const installed = await installBundle(openBundle(bytes, identifier), identifier, context);
  const own = declaredCommand(declared);
  return {
    ...installed,
    inputs: [
      ...installed.inputs,
      ...own.inputs.filter(({ key }) => !installed.inputs.some((each) => each.key === key)),
    ],
    draft(folder) {
      const draft = installed.draft(folder);
      return { ...draft, args: [...(draft.args ?? []), ...own.args], env: { ...draft.env, ...own.env } };
    },
  };
}
