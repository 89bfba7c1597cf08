import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { read, ROOT } from "./project.ts";

const base = mkdtempSync(join(tmpdir(), "toolarsenal-packing-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };
const SCRIPT = JSON.stringify(join(ROOT, "scripts/packing.ts"));

/** A script of the package without the build, which takes long and has its own tests. */
function own(name: string): string {
  return (scripts[name] ?? "").replace("npm run build && ", "").replaceAll("scripts/packing.ts", SCRIPT);
}

const PAGE = [
  "[Guide](docs/guide.md#first), [`code`](docs/code.md), [web](https://x.example/y), [here](#top)",
  '![A picture](docs/a.png) <img src="docs/b.svg"> `[not](docs/c.md)`',
  "```md",
  "[sample](docs/d.md)",
  "```",
  "",
].join("\n");

/** A package with the packing scripts of this one and the given fields. */
function createPackage(fields: object): { readonly folder: string; readme(): string } {
  const folder = mkdtempSync(join(base, "package-"));
  const names = ["prepublishOnly", "prepack", "postpack"];
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({
      name: "sample",
      version: "1.0.0",
      scripts: Object.fromEntries(names.map((name) => [name, own(name)])),
      ...fields,
    }),
  );
  writeFileSync(join(folder, "README.md"), PAGE);
  return { folder, readme: () => readFileSync(join(folder, "README.md"), "utf8") };
}

function npm(folder: string, ...parameters: readonly string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync("npm", [...parameters, "--cache", join(base, "cache")], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, stderr };
}

/** The README in the package that npm made. */
function packedReadme(folder: string): string {
  const { stdout } = spawnSync("tar", ["-xzOf", "sample-1.0.0.tgz", "package/README.md"], {
    cwd: folder,
    encoding: "utf8",
  });
  return stdout;
}

describe("packing", () => {
  it.each([
    [
      "git+https://git.example/ann/sample.git",
      "https://git.example/ann/sample/blob/HEAD/",
      "https://git.example/ann/sample/raw/HEAD/",
    ],
    [
      "git@gitlab.example:ann/sample.git",
      "https://gitlab.example/ann/sample/-/blob/HEAD/",
      "https://gitlab.example/ann/sample/-/raw/HEAD/",
    ],
    ["ann/sample", "https://github.com/ann/sample/blob/HEAD/", "https://github.com/ann/sample/raw/HEAD/"],
  ])("from %s makes README's relative links absolute, and restores the file", (repository, page, raw) => {
    const { folder, readme } = createPackage({ repository });
    expect(npm(folder, "pack").status).toBe(0);
    expect(packedReadme(folder).split("\n")).toEqual([
      `[Guide](${page}docs/guide.md#first), [\`code\`](${page}docs/code.md), [web](https://x.example/y), [here](#top)`,
      `![A picture](${raw}docs/a.png) <img src="${raw}docs/b.svg"> \`[not](docs/c.md)\``,
      "```md",
      "[sample](docs/d.md)",
      "```",
      "",
    ]);
    expect(readme()).toBe(PAGE);
  });

  it("without repository leaves README as it is", () => {
    const { folder, readme } = createPackage({});
    expect(npm(folder, "pack").status).toBe(0);
    expect([packedReadme(folder), readme()]).toEqual([PAGE, PAGE]);
  });

  it("restores README if npm fails after it was written", async () => {
    const { folder, readme } = createPackage({ repository: "ann/sample" });
    const { status, stderr } = npm(folder, "pack", "--pack-destination", join(folder, "missing"));
    expect(status, stderr).not.toBe(0);
    await expect.poll(readme).toBe(PAGE);
    expect(existsSync(join(folder, ".README.original.md"))).toBe(false);
  });

  it("in the folder of this package begins with a build", () => {
    expect(scripts["prepack"]).toMatch(/^npm run build && /);
  });
});

describe("publishing", () => {
  it("is refused without repository, homepage and bugs", () => {
    const { folder } = createPackage({ homepage: "https://x.example" });
    const { status, stderr } = npm(folder, "publish", "--dry-run");
    expect(status).not.toBe(0);
    expect(stderr).toContain("package.json has no repository, no bugs.");
    expect(stderr).toContain("npm pkg set repository.type=git repository.url=");
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it("is refused if repository is not an address", () => {
    const { folder } = createPackage({
      repository: "our server",
      homepage: "https://x.example",
      bugs: "https://x.example",
    });
    const { status, stderr } = npm(folder, "run", "prepublishOnly");
    expect(status).not.toBe(0);
    expect(stderr).toContain('repository "our server" in package.json is not an address.');
  });

  it("goes on with all three", () => {
    const { folder } = createPackage({
      repository: { type: "git", url: "git+https://git.example/ann/sample.git" },
      homepage: "https://x.example",
      bugs: { url: "https://x.example/bugs" },
    });
    expect(npm(folder, "run", "prepublishOnly").status).toBe(0);
  });
});
