import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** An address that somebody hostile, or somebody honest, could have the program request. */
export interface Target {
  readonly url: string;
  readonly blocked: boolean;
  /** What the name in it resolves to, where that matters. */
  readonly resolvesTo?: string;
}

const BLOCKED: readonly string[] = [
  // this machine, in every spelling
  "http://127.0.0.1/",
  "http://127.0.0.1:6379/",
  "http://localhost/",
  "http://LocalHost.:8080/",
  "http://app.localhost/",
  "http://127.3/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.0.0.1/",
  "http://017700000001/",
  "http://0177.0.0.01/",
  "http://0/",
  "http://0.0.0.0:22/",
  "http://①②⑦.⓪.⓪.①/",
  "http://127。0。0。1/",
  "http://127%2e0%2e0%2e1/",
  "http://[::1]/",
  "http://[::]/",
  "http://[0:0:0:0:0:0:0:1]:8443/",
  // addresses of version 4 within those of version 6: mapped, translated, compatible, 6to4, NAT64, Teredo
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:c0a8:101]/",
  "http://[::ffff:0:10.0.0.1]/",
  "http://[::10.0.0.1]/",
  "http://[2002:7f00:1::]/",
  "http://[64:ff9b::a9fe:a9fe]/",
  "http://[64:ff9b:1::a00:1]/",
  "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
  // private and special networks
  "http://10.20.30.40/",
  "http://172.16.5.4/",
  "http://172.31.0.1/",
  "http://192.168.0.254/router",
  "http://100.127.255.254/",
  "http://198.19.0.1/",
  "http://192.0.0.8/",
  "http://203.0.113.7/",
  "http://239.1.1.1/",
  "http://255.255.255.255/",
  "http://[fe80::1]/",
  "http://[fec0::1]/",
  "http://[fd12:3456::1]/",
  "http://[ff02::1]/",
  "http://[2001:db8::1]/",
  // where clouds keep credentials
  "http://169.254.169.254/latest/meta-data/iam/",
  "http://2852039166/latest/meta-data/",
  "http://169.254.170.2/v2/credentials",
  "http://[fd00:ec2::254]/latest/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://db.internal:5432/",
  // nor with a certificate
  "https://127.0.0.1/",
  "https://localhost:8443/",
  "https://10.0.0.1/",
  "https://[::ffff:10.0.0.1]/",
  "https://inside.test/",
  // names that are not what they seem
  "http://inside.test/",
  "http://root:toor@10.0.0.1/",
  "http://example.com@127.0.0.1/",
  "http://example.com%2f@127.0.0.1/",
  "http://127.0.0.1%2f@example.com/",
  "https://127.0.0.1@example.com/",
  "http://127.0.0.1#@example.com/",
  "http://127.0.0.1\\@example.com/",
  "http:\\\\127.0.0.1\\",
  "http:/127.0.0.1/",
  // no web address
  "file:///etc/passwd",
  "gopher://127.0.0.1:6379/_INFO",
  "ftp://10.0.0.1/",
  "dict://127.0.0.1:11211/stats",
  "data:text/plain,x",
  "javascript:alert(1)",
  "http://[::1/",
  "http://0000::1/",
];

const OPEN: readonly string[] = [
  "https://example.com/",
  "https://api.example.org/v1",
  "https://8.8.8.8/",
  "https://[2606:4700:4700::1111]/",
  "https://172.15.255.255/",
  "https://172.32.0.1/",
  "https://192.167.1.1/",
  "https://localhost.example.com/",
  "https://127.0.0.1.example.com/",
  "https://xn--bcher-kva.example/",
];

/** What the suite carries: each class of address that should be blocked, and neighbours that should not. */
export const TARGETS: readonly Target[] = [
  ...BLOCKED.map((url) => ({ url, blocked: true })),
  ...OPEN.map((url) => ({ url, blocked: false })),
];

/** More of them, of the folder that TOOLARSENAL_ATTACKS names; undefined where there is none. */
export function moreTargets(): readonly Target[] | undefined {
  const folder = process.env["TOOLARSENAL_ATTACKS"];
  const path = folder === undefined ? undefined : join(folder, "ssrf_urls.jsonl");
  if (path === undefined || !existsSync(path)) return undefined;
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map(toTarget);
}

/** A line says of some names in brackets what they resolve to: `http://name/ (DNS->127.0.0.1)`. */
function toTarget(line: string): Target {
  const { url, expect } = JSON.parse(line) as { readonly url: string; readonly expect: string };
  const noted = /^(?<bare>\S+) \(DNS->(?<address>[\d.]+)\)$/.exec(url)?.groups;
  return {
    url: noted?.["bare"] ?? url,
    blocked: expect === "block",
    ...(noted?.["address"] === undefined ? {} : { resolvesTo: noted["address"] }),
  };
}
