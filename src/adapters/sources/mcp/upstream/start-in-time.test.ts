import { afterEach, expect, it, vi } from "vitest";
import { mcpSource } from "../mcp.ts";

afterEach(() => vi.unstubAllEnvs());

it("quotes what a server that does not start in time wrote, and names the variables that it did not get", async () => {
  vi.stubEnv("COMPANY_REGISTRY", "https://npm.example");
  vi.stubEnv("HTTPS_PROXY", "http://proxy.example:3128");
  const program = "echo fetching the package >&2; echo $HTTPS_PROXY is silent >&2; exec sleep 60";
  const transport = { kind: "stdio", command: "sh", args: ["-c", program] } as const;
  const source = mcpSource({ name: "files", transport, connectTimeoutMs: 1_000 });
  const { signal } = new AbortController();
  const error = (await source.connect({ signal }).catch((thrown: unknown) => thrown)) as Error;
  await source.disconnect();
  expect(error.message).toContain(
    'connecting the MCP server "files" took longer than 1000 ms. It last wrote to stderr: ',
  );
  expect(error.message).toContain("fetching the package\\nhttp://proxy.example:3128 is silent");
  expect(error.message).toMatch(
    /It did not inherit these environment variables: [^:]*\bCOMPANY_REGISTRY\b[^:]*\. If it needs one of them, add it to the server's env or to mcp\.env_passthrough\./,
  );
  expect(error.message).not.toContain("https://npm.example");
});
