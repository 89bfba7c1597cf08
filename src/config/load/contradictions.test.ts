import { describe, expect, it } from "vitest";
import type { ToolArsenalConfig } from "../config.ts";
import { parseConfig } from "./load-config.ts";
import { resolveConfig } from "./resolve-config.ts";

describe("settings that do not go together", () => {
  const cases: readonly (readonly [field: string, config: ToolArsenalConfig, fix: string])[] = [
    [
      "execution.sandboxType",
      { execution: { enableSandbox: true } },
      "Set it to one of subprocess, docker, bubblewrap, isolate, or leave the sandbox off.",
    ],
    ["builtins.files.roots", { builtins: { tools: ["file-read"] } }, "Name the folders it may use, such as [./docs]."],
    [
      "builtins.files.roots",
      { builtins: { tools: ["http-get", "file-write"] } },
      "Name the folders it may use, such as [./docs].",
    ],
    [
      "builtins.webSearch.apiKey",
      { builtins: { webSearch: { apiKey: "tvly-0123456789" as "env:KEY" } } },
      "Write env:NAME, with the environment variable that holds the key.",
    ],
    ["audit.file", { audit: { type: "file" } }, "Set it to the path of the log file."],
    [
      "audit.keyFile",
      { audit: { type: "postgres", url: "postgres://db" } },
      "Name the file of an Ed25519 key, or set audit.secret to env:NAME.",
    ],
    [
      "telemetry.prices.currency",
      { telemetry: { prices: { currency: "dollars" } } },
      "Write three capital letters: USD.",
    ],
    [
      "telemetry.otlp.endpoint",
      { telemetry: { type: "opentelemetry", otlp: { endpoint: "localhost:4318" } } },
      "Write the collector's HTTP address, such as http://localhost:4318.",
    ],
    ...["https://example.com/tools?x=1", "https://example.com/tools#top", "tools.example.com"].map(
      (publicUrl) =>
        [
          "server.publicUrl",
          { server: { publicUrl } },
          "Write https://tools.example.com, or https://example.com/tools if a proxy serves the gateway below a path.",
        ] as const,
    ),
  ];

  it.each(cases)("are refused with what to do: %s", (field, config, fix) => {
    expect(() => resolveConfig(config)).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", details: expect.objectContaining({ field, fix }) }),
    );
  });

  it("are shown with the value that is wrong", () => {
    expect(() => resolveConfig({ telemetry: { prices: { currency: "dollars" } } })).toThrow(
      'telemetry.prices.currency: must be the code of a currency, not "dollars". Write three capital letters: USD.',
    );
    expect(() => resolveConfig({ telemetry: { prices: { currency: "USD", perMillionInputTokens: -3 } } })).toThrow(
      "telemetry.prices.perMillionInputTokens: must be a number from 0 to 1000000000, not -3.",
    );
  });

  it("are told all at once, each with its place in the file, and without what may be a key", async () => {
    const text = [
      "execution: { enable_sandbox: true, sandbox_type: none }",
      "builtins:",
      "  tools: [web-search]",
      "  web_search: { api_key: tvly-0123456789 }",
    ].join("\n");
    const error: unknown = await parseConfig(text, "a.yaml", {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message:
        "a.yaml:1:36 execution.sandbox_type: is none, which confines nothing, and a sandbox is enabled. " +
        "Set it to one of subprocess, docker, bubblewrap, isolate, or leave the sandbox off. (and 1 more)",
      details: { issues: [{}, { field: "builtins.web_search.api_key" }] },
    });
    expect(JSON.stringify((error as { readonly details: unknown }).details)).not.toContain("tvly");
  });

  it("are none of these", () => {
    const config: ToolArsenalConfig = {
      execution: { enableSandbox: true, sandboxType: "isolate" },
      builtins: {
        tools: ["file-read", "file-write", "web-search", "http-get", "code-execute"],
        files: { roots: ["docs"] },
        webSearch: { apiKey: "file:/run/secrets/tavily" },
      },
    };
    expect(resolveConfig(config)).toMatchObject(config);
    expect(resolveConfig({ execution: { sandboxType: "docker" } }).execution.enableSandbox).toBe(false);
  });
});
