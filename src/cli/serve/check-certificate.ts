import type { TlsFiles } from "../../serve/http/listen-options.ts";
import { readCertificate } from "../../serve/http/tls.ts";

/** What `doctor` says of a certificate. */
export interface CertificateFinding {
  readonly check: "tls";
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  readonly fix?: string;
}

const DAY_MS = 86_400_000;

/** A certificate that ends within so many days should be renewed by now. */
const RENEW_DAYS = 21;

/** Checks that the files can be used and belong together, and when the certificate ends. Throws `CONFIG_INVALID` if they cannot be used. */
export async function checkCertificate(files: TlsFiles, now: number): Promise<CertificateFinding> {
  const { certificate } = await readCertificate(files);
  const { validFromDate, validToDate } = certificate;
  const day = (date: Date): string => date.toISOString().slice(0, 10);
  const days = Math.floor((validToDate.getTime() - now) / DAY_MS);
  const fix = `Renew ${files.cert}. A running gateway notices the new file.`;
  if (now > validToDate.getTime())
    return { check: "tls", state: "failed", message: `${files.cert} expired on ${day(validToDate)}`, fix };
  if (now < validFromDate.getTime()) {
    const message = `${files.cert} is not valid before ${day(validFromDate)}`;
    return {
      check: "tls",
      state: "failed",
      message,
      fix: "Check the clock of this machine, or use another certificate.",
    };
  }
  const message = `${files.cert} is valid until ${day(validToDate)}`;
  if (days >= RENEW_DAYS) return { check: "tls", state: "ok", message };
  return { check: "tls", state: "warning", message: `${message}, for ${days === 1 ? "1 day" : `${days} days`}`, fix };
}
