import { describe, expect, it } from "vitest";
import { bundleManifest, ENTRY_POINT, type PackageFields } from "../../scripts/bundle/manifest.ts";
import { bundleDraft } from "../../src/registries/bundle/bundle-draft.ts";
import { readManifest } from "../../src/registries/bundle/manifest.ts";
import { dangersOf } from "../../src/registries/entry/packages.ts";
import type { ServerJson } from "../../src/registries/read/server-json.ts";
import { createApiCheck } from "../registries/check-api.ts";
import { REGISTRY_API } from "../registries/openapi-facts.ts";
import { read } from "./project.ts";

const own = JSON.parse(read("package.json")) as PackageFields & { readonly mcpName: string };
const server = JSON.parse(read("server.json")) as ServerJson;

describe("our own entry in the MCP registry", () => {
  it("has the published format, and nothing that we refuse ourselves", () => {
    expect(createApiCheck(REGISTRY_API).shape("ServerDetail", server)).toEqual([]);
    expect(dangersOf(server, { allowPrivate: false, packageHosts: [], used: [] })).toEqual([]);
  });

  it("has the name and version of the package, which proves whose it is", () => {
    expect([server.name, server.version]).toEqual([own.mcpName, own.version]);
    expect(server.packages?.map(({ identifier, version }) => [identifier, version])).toEqual([[own.name, own.version]]);
  });
});

describe("our own bundle", () => {
  it("has a manifest that we accept, and starts serve --stdio with the user's configuration", () => {
    const manifest = readManifest(Buffer.from(JSON.stringify(bundleManifest(own))));
    const { inputs, draft } = bundleDraft(manifest, new Set(["manifest.json", ENTRY_POINT]));
    expect(inputs.map(({ key, required }) => [key, required])).toEqual([["config", true]]);
    const words = draft("/bundle").args?.map(({ template = [] }) =>
      template.map((part) => (typeof part === "string" ? part : `<${part.input}>`)).join(""),
    );
    expect(words).toEqual([`/bundle/${ENTRY_POINT}`, "serve", "--stdio", "--config", "<config>"]);
  });
});
