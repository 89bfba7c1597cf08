import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { committable, files, has, read } from "./project.ts";

const TEXT = /\.(?:ts|js|mjs|json|md|ya?ml|toml|py|sh|txt)$|(?:^|\/)(?:run|LICENSE|\.[\w.]+)$/;

/** Files that are data, not prose or code: what they quote is not ours. */
const DATA = /^models\/data\/|\.jsonl$/;

const written = committable().filter((path) => TEXT.test(path) && !DATA.test(path));
const tests = files(["src/**/*.test.ts", "test/**/*.test.ts"]);
const pages = committable().filter((path) => path.endsWith(".md"));

/** `path:line` of every line that the pattern finds. */
function places(paths: readonly string[], finds: (line: string) => boolean): readonly string[] {
  return paths.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, index) => (finds(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 100)}`] : [])),
  );
}

/** `path:line` of every test whose body judges nothing. A test that is handed its body, `it(name, run)`, is not looked into. */
function withoutJudgement(path: string, text: string): readonly string[] {
  const lines = text.split("\n");
  const starts = lines.flatMap((line, index) => (TEST.test(line) ? [index] : []));
  return starts.flatMap((start, index) => {
    const body = lines.slice(start, starts[index + 1]).join("\n");
    const isHandedOver = /\bit\([^\n]*, \w+\);/.test(lines[start] ?? "");
    return isHandedOver || JUDGES.test(body) ? [] : [`${path}:${start + 1}: ${(lines[start] ?? "").trim()}`];
  });
}

const MACHINE_PATH = /(?<![\w.~$-])\/(?:work|root)\/|\/tmp\/bash/;
const REGISTRY = /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\.|\bpypi\.org\/simple|\bfiles\.pythonhosted\./;
const DISABLED = /\.(?:only|skip|todo|fails|skipIf|runIf)\(/;
const REASON = /\/\/ because \w/;
/** How a test begins: `it("…"`, `it.each(…)("…"`. */
const TEST = /^\s*it(?:\.\w+\(?|\()/;
/** What makes a test able to fail for another reason than its time running out. */
const JUDGES = /expect|assert|run\(\)|Contract\(|fc\.|failure\(|areGone\(/;
const MOST_FILES = 25;

describe("the repository", () => {
  it("names no path of the machine it was written on", () => {
    expect(written.length).toBeGreaterThan(100);
    expect(places(written, (line) => MACHINE_PATH.test(line))).toEqual([]);
  });

  it("names no package registry", () => {
    expect(places(written, (line) => REGISTRY.test(line))).toEqual([]);
  });

  it("has no test that runs alone, and says why one does not run", () => {
    const unexplained = tests.flatMap((path) => {
      const lines = read(path).split("\n");
      const isExplained = (index: number): boolean =>
        [lines[index], lines[index - 1]].some((line) => line !== undefined && REASON.test(line));
      return lines.flatMap((line, index) =>
        DISABLED.test(line) && !isExplained(index) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      );
    });
    expect(unexplained).toEqual([]);
  });

  it("has no test that only its time limit can fail", () => {
    expect(tests.flatMap((path) => withoutJudgement(path, read(path)))).toEqual([]);
    expect(withoutJudgement("x", 'it("waits", async () => {\n  await done;\n});\n')).toEqual([
      'x:1: it("waits", async () => {',
    ]);
    expect(withoutJudgement("x", 'it("waits", async () => {\n  expect(await done).toBe(1);\n});\n')).toEqual([]);
  });

  it("has no folder of more than 25 modules", () => {
    const folders = Map.groupBy(files("src/**/*.ts"), (path) => posix.dirname(path));
    const crowded = [...folders].filter(([, inside]) => inside.length > MOST_FILES);
    expect(crowded.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
  });

  it("has no source file above 400 lines", () => {
    const long = files("src/**/*.ts").map((path) => [path, read(path).split("\n").length - 1] as const);
    expect(long.filter(([, lines]) => lines > 400)).toEqual([]);
  });

  it("has no file whose name says nothing", () => {
    expect(files("src/**/*.ts").filter((path) => /\b(?:utils?|common|helpers?|manager|misc)\b/.test(path))).toEqual([]);
  });

  it("pins every dependency exactly", () => {
    const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<
      string,
      Record<string, string>
    >;
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    );
    expect(loose).toEqual([]);
  });
});

describe("documentation", () => {
  it.each(pages)("%s links to what exists", (path) => {
    const text = read(path).replaceAll(/```[\s\S]*?```/g, "");
    const broken: string[] = [];
    for (const [, link = ""] of text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)) {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : posix.join(posix.dirname(path), file);
      if (!has(target)) broken.push(link);
      else if (anchor !== undefined && target.endsWith(".md") && !anchors(read(target)).includes(anchor))
        broken.push(link);
    }
    expect(broken).toEqual([]);
  });

  const examples = pages.flatMap((path) =>
    [...read(path).matchAll(/<!-- example: (\S+) -->\n+```ts\n([\s\S]*?)```/g)].map(([, name = "", code = ""]) => ({
      path,
      name,
      code,
    })),
  );

  it("shows at least one example in the README, under <!-- example: NAME.ts -->", () => {
    expect(examples.filter(({ path }) => path === "README.md").length).toBeGreaterThan(0);
  });

  it("has a block under every example marker", () => {
    const markers = pages.flatMap((path) => [...read(path).matchAll(/^<!-- example: (\S+) -->$/gm)]);
    expect(examples.length).toBe(markers.length);
  });

  it.each(examples)("$path shows examples/$name as it runs", ({ name, code }) => {
    expect(code).toBe(read(`examples/${name}`));
  });
});

/** The anchors that headings get. */
function anchors(text: string): readonly string[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, "");
  return [...prose.matchAll(/^#+\s+(.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}
