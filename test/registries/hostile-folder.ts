import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type Ran, runInMemory } from "../e2e/terminal.ts";
import { type NpmDouble, startNpm } from "./npm-double.ts";
import { type RegistryDouble, startRegistry } from "./registry-double.ts";

/** A user's folder, with doubles of the registry and of npm, in which hostile servers are added. */
export interface HostileFolder {
  readonly registry: RegistryDouble;
  readonly npm: NpmDouble;
  readonly folder: string;
  /** A file that hostile code would write. */
  readonly mark: string;
  run(...argv: readonly string[]): Promise<Ran>;
  /** Expects that nothing was written and nothing ran, and that the configuration is still this text. */
  expectNothing(before: string): Promise<void>;
}

/** Prepares the doubles for the tests of a file, and a new folder for each test. */
export function useHostileFolder(): HostileFolder {
  let [home, folder, mark] = ["", "", ""];
  let registry: RegistryDouble;
  let npm: NpmDouble;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "arsenal-hostile-home-"));
    mark = join(home, "ran");
    [registry, npm] = await Promise.all([startRegistry(), startNpm()]);
  });
  afterAll(async () => {
    await Promise.all([registry.close(), npm.close()]);
    await rm(home, { recursive: true });
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "arsenal-hostile-"));
    await writeFile(join(folder, "arsenal.yaml"), `registries: [{ name: double, url: ${registry.url} }]\n`);
    return () => rm(folder, { recursive: true });
  });
  return {
    get registry() {
      return registry;
    },
    get npm() {
      return npm;
    },
    get folder() {
      return folder;
    },
    get mark() {
      return mark;
    },
    run: (...argv) =>
      runInMemory(argv, {
        folder,
        environment: {
          PATH: process.env["PATH"] ?? "",
          HOME: home,
          TOOLARSENAL_CACHE: "off",
          npm_config_registry: npm.url,
          npm_config_cache: join(home, "npm"),
          AWS_SECRET_ACCESS_KEY: "the-users-own-secret",
        },
      }),
    async expectNothing(before) {
      expect(await readFile(join(folder, "arsenal.yaml"), "utf8")).toBe(before);
      expect((await readdir(folder)).filter((file) => !file.endsWith(".mcpb"))).toEqual(["arsenal.yaml"]);
      expect(existsSync(mark)).toBe(false);
    },
  };
}
