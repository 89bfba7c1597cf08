import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { TEST_SERVER_ONE, TEST_SERVER_TWO } from "../../../test/test-certificates.ts";
import { runInMemory } from "../../../test/e2e/terminal.ts";
import { checkCertificate } from "../checks/gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "toolarsenal-tls-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const [cert, key, other] = ["cert.pem", "key.pem", "other.pem"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
writeFileSync(cert, TEST_SERVER_ONE.cert);
writeFileSync(key, TEST_SERVER_ONE.key);
writeFileSync(other, TEST_SERVER_TWO.key);

describe("the check of a certificate", () => {
  it.each([
    ["2119-12-10", "ok", "is valid until 2119-12-31"],
    ["2119-12-30", "warning", "is valid until 2119-12-31, for 1 day"],
    ["2120-01-01", "failed", "expired on 2119-12-31"],
    ["2019-12-31", "failed", "is not valid before 2020-01-01"],
  ])("on %s is %s: %s", async (today, state, message) => {
    const finding = await checkCertificate({ cert, key }, Date.parse(today));
    expect(finding).toMatchObject({ check: "tls", state, message: `${cert} ${message}` });
  });

  it("is part of doctor, which names the file that cannot be used", async () => {
    const check = async (tls: object): Promise<unknown> => {
      writeFileSync(join(folder, "arsenal.yaml"), JSON.stringify({ server: { tls } }));
      const { out } = await runInMemory(["doctor", "--json"], { folder });
      const { findings } = JSON.parse(out) as { readonly findings: readonly { readonly check: string }[] };
      return findings.find((finding) => finding.check === "tls");
    };
    // Relative to the configuration.
    expect(await check({ cert: "cert.pem", key: "key.pem" })).toMatchObject({ state: "ok" });
    expect(await check({ cert: "cert.pem", key: "other.pem" })).toMatchObject({
      state: "failed",
      message: `Cannot serve over TLS: ${other} (server.tls.key) is the key of another certificate.`,
      fix: `Give the key of the first certificate in ${cert}.`,
    });
  });
});

it("warns of a misspelt key of an MCP server, which is left out", async () => {
  const server = { command: "node", arg: ["server.js"], disabled: true };
  writeFileSync(join(folder, "arsenal.yaml"), JSON.stringify({ mcpServers: { files: server, notes: "node" } }));
  const { out } = await runInMemory(["doctor"], { folder });
  expect(out).toContain("warning  files: left out arg, which ToolArsenal does not know\n");
  expect(out).toContain("failed   notes: entry is not an object\n");
});

it("shows the way that requests take, without the password of the proxy, and refuses a proxy or a file of authorities that cannot be used", async () => {
  const doctor = async (egress: object, environment: Record<string, string> = {}): Promise<string> => {
    writeFileSync(join(folder, "arsenal.yaml"), JSON.stringify({ egress }));
    return (await runInMemory(["doctor"], { folder, environment })).out;
  };
  const out = await doctor({ ca_file: "cert.pem" }, { HTTPS_PROXY: "http://user:hidden@proxy.example:3128" });
  expect(out).toContain("ok       network: https:// through http://proxy.example:3128 (HTTPS_PROXY)\n");
  expect(out).toContain(`ok       network: also trusts the authorities in ${cert} (egress.ca_file)\n`);
  expect(out).not.toContain("hidden");
  expect(await doctor({ proxy: "socks5://h" })).toContain("egress.proxy is not the address of an HTTP proxy.");
  expect(await doctor({}, { HTTP_PROXY: "socks5://h" })).toContain("HTTP_PROXY is not the address of an HTTP proxy.");
  expect(await doctor({ ca_file: "missing.pem" })).toMatch(/failed +configuration: egress\.ca_file cannot be read/);
});
