import { constants, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "node:https";
import { type ArsenalError, fixable } from "../../errors/arsenal-error.ts";
import { messageOf } from "../../errors/show-value.ts";
import type { Emit } from "../../observe/events.ts";
import type { TlsFiles } from "./listen-options.ts";
import { watchConfig, type WatchedConfig } from "../../system/watch-files.ts";

/** Only suites with forward secrecy and authenticated encryption for TLS 1.2. TLS 1.3 has only such suites. */
const CIPHERS = [
  // Deno does not list its suites, and allows only these.
  ...((constants.defaultCipherList as string | undefined) ?? "").split(":").filter((suite) => suite.startsWith("TLS_")),
  ...["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].flatMap((suite) => [
    `ECDHE-ECDSA-${suite}`,
    `ECDHE-RSA-${suite}`,
  ]),
].join(":");

/** Reads the files. Throws `CONFIG_INVALID`, with the file and the fix, if a file cannot be used or the key belongs to another certificate. */
export async function readCertificate({ cert, key, ca }: TlsFiles) {
  const [certText, keyText] = [await read("cert", cert), await read("key", key)];
  const caText = ca === undefined ? undefined : await read("ca", ca);
  const certificate = parseCertificate("cert", cert, certText);
  if (ca !== undefined && caText !== undefined) parseCertificate("ca", ca, caText);
  if (!certificate.checkPrivateKey(parseKey(key, keyText))) {
    const fix = `Give the key of the first certificate in ${cert}.`;
    throw unusable("key", key, "is the key of another certificate", fix);
  }
  const chain = caText === undefined ? certText : `${certText.trimEnd()}\n${caText}`;
  return {
    certificate,
    /** The options for Node's server. */
    context: { cert: chain, key: keyText, minVersion: "TLSv1.2" as const, ciphers: CIPHERS },
    texts: [certText, keyText, ...(caText === undefined ? [] : [caText])],
  };
}

/** Uses the new certificate for new connections when the files change. Invalid files are reported, and the old certificate stays in use. */
export function followCertificate(
  server: Server,
  files: TlsFiles,
  { known, emit }: { readonly known: readonly string[]; readonly emit: Emit },
): Promise<WatchedConfig> {
  const { cert: file, key, ca } = files;
  return watchConfig([file, key, ...(ca === undefined ? [] : [ca])], {
    known,
    async onChange() {
      try {
        const { context, certificate } = await readCertificate(files);
        server.setSecureContext(context);
        emit("certificate-reloaded", { file, validTo: certificate.validToDate.toISOString() });
      } catch (error) {
        emit("certificate-failed", { file, message: `${messageOf(error)} The old certificate stays in use.` });
      }
    },
    onFailure: ({ message }) =>
      emit("certificate-failed", { file, message: `Cannot watch ${file} (${message}). Restart to use a new one.` }),
  });
}

type Name = keyof TlsFiles;

async function read(name: Name, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const fix = "Give a PEM file that the user of this process may read.";
    throw unusable(name, file, isMissing ? "does not exist" : "cannot be read", fix, error);
  }
}

function parseCertificate(name: Name, file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw unusable(name, file, "is not a certificate", "Give the certificate as a PEM file.", error);
  }
}

function parseKey(file: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (error) {
    if (!text.includes("ENCRYPTED"))
      throw unusable("key", file, "is not a private key", "Give the private key as a PEM file.", error);
    const fix = "Give the key without a passphrase: openssl pkey -in FILE -out NEW-FILE";
    throw unusable("key", file, "needs a passphrase", fix, error);
  }
}

function unusable(name: Name, file: string, why: string, fix: string, cause?: unknown): ArsenalError {
  const problem = `Cannot serve over TLS: ${file} (server.tls.${name}) ${why}.`;
  return fixable("CONFIG_INVALID", problem, fix, { field: `tls.${name}`, value: file, cause });
}
