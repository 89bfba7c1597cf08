import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { has, read, ROOT } from "./project.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}
interface Job {
  readonly needs?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly "timeout-minutes": number;
  readonly steps: readonly Step[];
}

const { on, permissions, jobs } = parse(read(".github/workflows/release.yml")) as {
  readonly on: object;
  readonly permissions: object;
  readonly jobs: { readonly check: Job; readonly publish: Job };
};
const manifest = JSON.parse(read("package.json")) as {
  readonly mcpName: string;
  readonly homepage: string;
  readonly bugs: { readonly url: string };
  readonly repository: { readonly type: string; readonly url: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
};
const commandsOf = ({ steps }: Job): readonly string[] => steps.flatMap(({ run }) => run ?? []);

describe("the release workflow", () => {
  it("runs for a tag of a version, and for nothing else", () => {
    expect(on).toEqual({ push: { tags: ["v*.*.*"] } });
    expect(commandsOf(jobs.check)[0]).toBe(
      `test "v$(node -p 'require("./package.json").version')" = "$GITHUB_REF_NAME"`,
    );
  });

  it("publishes with provenance what passed everything that CI runs", () => {
    expect(commandsOf(jobs.check).at(-1)).toMatch(/ \.ci\/run$/);
    expect(jobs.publish.needs).toBe("check");
    expect(commandsOf(jobs.publish)).toContain("npm publish --provenance --access public");
    expect(has(".ci/run")).toBe(true);
  });

  it("has no rights but those it needs, a time limit, and actions that nobody can change", () => {
    expect([permissions, jobs.check.permissions]).toEqual([{}, { contents: "read" }]);
    expect(jobs.publish.permissions).toEqual({ contents: "write", "id-token": "write" });
    expect(Object.values(jobs).filter((job) => !(job["timeout-minutes"] <= 60))).toEqual([]);
    const actions = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(actions.filter((action) => !/^actions\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
    const lines = read(".github/workflows/release.yml").match(/^.*\buses:.*$/gm) ?? [];
    expect(lines).toHaveLength(actions.length);
    expect(lines.filter((line) => !/ # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it("runs scripts that exist, and puts no expression into a command line", () => {
    const commands = Object.values(jobs).flatMap(commandsOf);
    const named = commands.flatMap((command) => /\bnpm run (?:--silent )?([\w:]+)/.exec(command)?.[1] ?? []);
    expect(named).toEqual(["sbom"]);
    expect(named.filter((name) => manifest.scripts[name] === undefined)).toEqual([]);
    expect(commands.filter((command) => command.includes("${{"))).toEqual([]);
  });
});

describe("the addresses of the project", () => {
  it("are those of the repository whose owner has our name in the MCP registry", () => {
    const [, owner = "", name = ""] = /^io\.github\.([\w-]+)\/([\w-]+)$/.exec(manifest.mcpName) ?? [];
    const page = `https://github.com/${owner}/${name}`;
    expect(manifest.repository).toEqual({ type: "git", url: `git+${page}.git` });
    expect([manifest.homepage, manifest.bugs.url]).toEqual([`${page}#readme`, `${page}/issues`]);
    const server = JSON.parse(read("server.json")) as object;
    expect(server).toMatchObject({
      name: manifest.mcpName,
      websiteUrl: manifest.homepage,
      repository: { url: page, source: "github" },
    });
  });
});

describe("npm run sbom", () => {
  it("lists what users install, with versions, licenses and hashes, and nothing of development", () => {
    const output = execFileSync(process.execPath, ["scripts/package/sbom.ts"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const { bomFormat, metadata, components } = JSON.parse(output) as {
      readonly bomFormat: string;
      readonly metadata: { readonly component: { readonly name: string } };
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly licenses?: readonly object[];
        readonly hashes?: readonly object[];
      }[];
    };
    expect([bomFormat, metadata.component.name]).toEqual(["CycloneDX", "toolarsenal"]);
    const listed = Object.fromEntries(components.map(({ name, version }) => [name, version]));
    expect(listed).toMatchObject(manifest.dependencies);
    expect(listed).toHaveProperty("eventsource");
    for (const name of ["vitest", "typescript", "pg", "ai"]) expect(listed).not.toHaveProperty(name);
    expect(components.filter(({ licenses = [], hashes = [] }) => licenses.length + hashes.length < 2)).toEqual([]);
  });
});
