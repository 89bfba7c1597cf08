import type { TlsFiles } from "../../serve/http/listen-options.ts";
import { count } from "../../errors/show-value.ts";
import { readCertificate } from "../../serve/http/tls.ts";

const DAY_MS = 86_400_000;

/** A certificate that ends within so many days should be renewed by now. */
const RENEW_DAYS = 21;

/** Checks that the files can be used and belong together, and when the certificate ends. Throws `CONFIG_INVALID` if they cannot be used. */
export async function checkCertificate({ cert, key }: TlsFiles, now: number) {
  const { certificate } = await readCertificate({ cert, key });
  const { validFromDate, validToDate } = certificate;
  const day = (date: Date): string => date.toISOString().slice(0, 10);
  const finding = (state: "ok" | "warning" | "failed", message: string, fix?: string) => ({
    check: "tls",
    state,
    message: `${cert} ${message}`,
    ...(fix !== undefined && { fix }),
  });
  const days = Math.floor((validToDate.getTime() - now) / DAY_MS);
  const fix = `Renew ${cert}. A running gateway notices the new file.`;
  if (now > validToDate.getTime()) return finding("failed", `expired on ${day(validToDate)}`, fix);
  if (now < validFromDate.getTime()) {
    const clock = "Check the clock of this machine, or use another certificate.";
    return finding("failed", `is not valid before ${day(validFromDate)}`, clock);
  }
  const until = `is valid until ${day(validToDate)}`;
  return days >= RENEW_DAYS ? finding("ok", until) : finding("warning", `${until}, for ${count(days, "day")}`, fix);
}
