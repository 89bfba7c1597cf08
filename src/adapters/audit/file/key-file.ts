import { generateKeyPairSync, randomUUID } from "node:crypto";
import { chmod, link, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ArsenalError, fixable } from "../../../errors/arsenal-error.ts";
import { type AuditKey, ed25519Key } from "../../../guard/audit/key.ts";
import { makeFolder } from "../../../system/make-folder.ts";

/** Reads the key from a file that only this user can read. Creates a missing file, with the public key next to it as `.pub`. */
export async function openKeyFile(file: string): Promise<AuditKey> {
  return (await readKeyFile(file)) ?? createKeyFile(file);
}

/** Reads the key from a file. Returns undefined if the file does not exist. Refuses a private key that others can read. */
export async function readKeyFile(file: string): Promise<AuditKey | undefined> {
  try {
    const pem = await readFile(file, "utf8");
    const { mode } = await stat(file);
    if (pem.includes("PRIVATE KEY") && process.platform !== "win32" && (mode & 0o077) !== 0)
      throw fixable("CONFIG_INVALID", `The audit key ${file} can be read by others.`, `Run: chmod 600 ${file}`, {
        field: "audit.key_file",
        value: file,
      });
    return ed25519Key(pem);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function createKeyFile(file: string): Promise<AuditKey> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const temporary = `${file}.${randomUUID()}.tmp`;
  await makeFolder(dirname(file), 0o700);
  try {
    await writeFile(temporary, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
    await chmod(temporary, 0o600);
    // Fails if the name is taken. If two processes start at once, both use the key of the first.
    await link(temporary, file);
    await writeFile(`${file}.pub`, publicKey.export({ type: "spki", format: "pem" }), { mode: 0o644 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  const key = await readKeyFile(file);
  if (key === undefined)
    throw new ArsenalError("STORE_FAILED", `The audit key ${file} was deleted while it was created.`);
  return key;
}
