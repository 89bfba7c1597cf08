import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseDocument } from "yaml";
import type { Surroundings } from "../../src/adapters/surroundings.ts";
import { type Kind, namesOf, needsOf } from "../../src/config/adapter-settings.ts";
import { loadConfig } from "../../src/config/load/load-config.ts";
import type { ResolvedConfig } from "../../src/config/load/resolve-config.ts";
import { configuredEngine, configuredReranker, configuredTiers } from "../../src/wire/parts.ts";
import { configuredState } from "../../src/wire/state.ts";
import { createAdapter } from "../../src/wire/create-adapter.ts";
import { createSurroundings } from "../../src/wire/surroundings.ts";
import type { Reranker } from "../../src/retrieve/reranker.port.ts";
import { KINDS } from "../../src/adapters/kinds.ts";
import { ToolArsenal } from "../../src/index.ts";
import { ROOT } from "../repo/project.ts";

/* The backends of the production configuration, changed by nothing but the type. What is tried follows from the manifests. */

const folder = mkdtempSync(join(tmpdir(), "backends-"));
afterAll(() => rmSync(folder, { recursive: true }));

const PRODUCTION = readFileSync(join(ROOT, "examples/config.prod.yaml"), "utf8");
const NAMES = [...PRODUCTION.matchAll(/\$\{(\w+)(?::-)?\}/g)].map(([, name = ""]) => name);

/** A variable for each that the file names. Addresses are of the kind that the store takes, and nobody answers there. */
function environmentFor(type: string): Record<string, string> {
  const scheme = { redis: "redis", postgres: "postgresql" }[type] ?? "http";
  return Object.fromEntries(
    NAMES.map((name) => [name, name.endsWith("_URL") ? `${scheme}://127.0.0.1:9` : `${name}-${"x".repeat(32)}`]),
  );
}

let files = 0;

/** Writes the production configuration with other values, and returns its path. Undefined removes a key. */
function written(changes: readonly (readonly [path: readonly string[], value: unknown])[]): string {
  const document = parseDocument(PRODUCTION);
  for (const [path, value] of changes)
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, value);
  const path = join(folder, `${++files}.yaml`);
  writeFileSync(path, String(document));
  return path;
}

async function withType(
  section: string,
  type: string,
): Promise<{ config: ResolvedConfig; surroundings: Surroundings }> {
  const environment = environmentFor(type);
  const { config } = await loadConfig(written([[[section, "type"], type]]), environment);
  const refuse = (): never => {
    throw new Error("An adapter must not connect before it is used.");
  };
  const egress = { request: refuse, connect: refuse, fork: () => egress, close: () => {} };
  return { config, surroundings: { ...createSurroundings(config, { environment }), egress } };
}

describe("changing only the type in config.prod.yaml changes the backend, which connects to nothing yet", () => {
  it.each(namesOf("engines"))("vector_store.type: %s [000-13-swap]", async (type) => {
    const { config, surroundings } = await withType("vector_store", type);
    expect(configuredEngine(config, {}, surroundings).name).toBe(type);
    const made = await createAdapter<{ name: string }>("engines", type, config.vectorStore, surroundings);
    expect(made.name).toBe(type);
  });

  it.each(["sentence_transformers", ...namesOf("embedders")])("embedder.type: %s [000-13-swap]", async (type) => {
    const { config, surroundings } = await withType("embedder", type);
    // The tests' own environment allows the lexical tier only.
    const embedder = { ...config.embedder, tier: "tuned" as const };
    const load = configuredTiers({ ...config, embedder }, {}, surroundings);
    const tiers = typeof load === "function" ? await load() : load;
    if (type === "sentence_transformers") expect(tiers.map(({ name }) => name)).toEqual(["static", "tuned"]);
    else {
      // Azure serves OpenAI's models, and their vectors are the same.
      const provider = type === "azure" ? "openai" : type;
      expect(tiers.map(({ embedder: { model } }) => model)).toEqual([`${provider}/text-embedding-3-small/1536`]);
    }
    await Promise.all(tiers.map((tier) => tier.embedder.close?.()));
  });

  it.each(namesOf("rerankers"))("reranker.type: %s [000-13-swap]", async (type) => {
    const { config, surroundings } = await withType("reranker", type);
    const made = await createAdapter<Reranker>("rerankers", type, config.reranker, surroundings);
    expect(made.model).toBe(`${type}/rerank-english-v3.0`);
    expect(configuredReranker(config, {}, surroundings)?.model).toBe(made.model);
  });

  it.each(namesOf("state"))("state.type: %s [000-13-swap]", async (type) => {
    const { config, surroundings } = await withType("state", type);
    const { limits: _limits, ...settings } = config.state;
    expect(configuredState({ state: settings }, surroundings).name).toBe(type);
    const made = await createAdapter<{ name: string; close(): Promise<void> }>("state", type, settings, surroundings);
    expect(made.name).toBe(type);
    await made.close();
  });
});

describe("a production arsenal on the backends of this machine", () => {
  const here: readonly (readonly [section: string, type: string])[] = [
    ["vector_store", "memory"],
    ["vector_store", "sqlite"],
    ["state", "memory"],
    ["state", "sqlite"],
  ];

  it.each(here)("finds and runs a tool with %s.type: %s", async (section, type) => {
    const path = written([
      [["vector_store", "type"], "memory"],
      [["vector_store", "file"], join(folder, `${files}.catalog.sqlite`)],
      [["embedder", "type"], "sentence_transformers"],
      [["embedder", "tier"], "lexical"],
      [["reranker"], undefined],
      [["state", "type"], "memory"],
      [["state", "file"], join(folder, `${files}.state.sqlite`)],
      [["state", "limits"], undefined],
      [["audit", "file"], join(folder, `${files}.audit.jsonl`)],
      [["audit", "type"], "file"],
      [["mcp", "servers"], undefined],
      [["telemetry"], undefined],
      [[section, "type"], type],
    ]);
    const environment = environmentFor(type);
    await using arsenal = await ToolArsenal.fromConfig(path, { environment });
    const tool = { name: "close_ticket", namespace: "tickets", description: "Closes a support ticket." };
    arsenal.register(tool, () => "closed");
    const { tools } = await arsenal.retrieve({ context: { query: "close the support ticket" } });
    expect(tools.map(({ tool: { id } }) => id)).toEqual(["tickets.close_ticket"]);
    expect(await arsenal.execute({ toolName: "tickets.close_ticket", arguments: {} })).toMatchObject({
      status: "success",
      result: "closed",
    });
    expect(await arsenal.healthCheck()).toEqual({ store: true, state: true });
  });
});

describe("a setting that the chosen backend needs", () => {
  const sections: Readonly<Partial<Record<Kind, string>>> = {
    engines: "vector_store",
    embedders: "embedder",
    rerankers: "reranker",
    state: "state",
    audit: "audit",
  };
  const needed = Object.entries(sections).flatMap(([kind, section]) =>
    Object.keys(KINDS[kind as Kind]).flatMap((type) =>
      Object.entries(needsOf(kind as Kind, type)).map(([key, fix]) => [section, type, key, fix] as const),
    ),
  );

  it.each(needed)("is named if it is missing: %s.type: %s needs %s", async (section, type, key, fix) => {
    const snake = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const path = written([
      [[section, "type"], type],
      [[section, snake], undefined],
    ]);
    const issue = { field: `${section}.${snake}`, message: expect.stringContaining(`is needed for ${type}`), fix };
    await expect(loadConfig(path, environmentFor(type))).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      details: { issues: expect.arrayContaining([expect.objectContaining(issue)]) },
    });
  });
});
