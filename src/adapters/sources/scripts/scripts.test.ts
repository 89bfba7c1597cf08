import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folderOf, open, type Opened } from "../../../../test/e2e/script-files.ts";
import { languagesMissing } from "../../../../test/services/languages.ts";
import { ToolArsenal } from "../../../index.ts";
import { sourceContract } from "../../../testing/source.contract.ts";
import { scriptsSource } from "./scripts.ts";

const names = ({ tools }: Opened): readonly string[] => tools.map(({ name }) => name);

describe("the source contract", () => {
  for (const { name, run } of sourceContract(async () => ({
    adapter: scriptsSource({ paths: [await folderOf({ "hi.js": "export function hi() { return 1; }" })] }),
  })))
    it(name, run);
});

describe("the functions of TypeScript and JavaScript modules", () => {
  it("are tools under the names they are exported by", async () => {
    await using opened = await open({
      "a.ts": "export function one() {}\nexport const two = () => {};\nfunction hidden() {}\nexport const data = 1;",
      "b.js": "function three() {}\nexport { three, three as four };",
      "c.cjs": "exports.five = function () {};\nmodule.exports.six = () => {};",
      "d.cjs": "const seven = () => {};\nmodule.exports = { seven, eight() {}, _hidden() {} };",
      "nine.mjs": "export default function () {}",
      "ten.ts": "export function run() {}\nexport function helper() {}",
      "e.test.ts": "export function tested() {}",
      "f.d.ts": "export function declared(): void;",
    });
    expect(opened.problems).toEqual([]);
    expect(names(opened).toSorted()).toEqual(
      ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"].toSorted(),
    );
  });

  it("run as they are exported", async () => {
    await using opened = await open({
      "five.cjs":
        "exports.run = async ({ n }) => n + 1;\n/** @param {{ n: number }} args */\nexports.other = (args) => args;",
      "nine.mjs": "export default (n = 1) => n * 2;",
      "d.cjs": "module.exports = { eight() { return 8; } };",
    });
    expect([
      (await opened.call("five", { n: 4 })).result,
      (await opened.call("nine", { n: 21 })).result,
      (await opened.call("eight")).result,
    ]).toEqual([5, 42, 8]);
  });

  it("are described by their types and comments", async () => {
    await using opened = await open({
      "a.ts": `
interface Base {
  /** Where to look. */
  readonly where?: string[];
}
type Mode = "fast" | "deep";
interface Args extends Base {
  text: string;
  mode?: Mode | null;
  limits: { min: number; max?: number };
  labels: Record<string, boolean>;
  counts: { [key: string]: number };
  anything?: unknown;
}
/**
 * Finds text.
 *
 * It looks everywhere.
 *
 * @param args.text - What to find
 */
export function find(args: Args): void {}
`,
    });
    const [tool] = opened.tools;
    expect(tool?.description).toContain("Finds text.");
    expect(tool?.extendedDescription).toBe("It looks everywhere.");
    expect(tool?.parameters).toEqual({
      type: "object",
      properties: {
        where: { type: "array", items: { type: "string" }, description: "Where to look." },
        text: { type: "string", description: "What to find" },
        mode: { anyOf: [{ type: "string", enum: ["fast", "deep"] }, { type: "null" }] },
        limits: {
          type: "object",
          properties: { min: { type: "number" }, max: { type: "number" } },
          required: ["min"],
          additionalProperties: false,
        },
        labels: { type: "object", additionalProperties: { type: "boolean" } },
        counts: { type: "object", additionalProperties: { type: "number" } },
        anything: {},
      },
      required: ["text", "limits", "labels", "counts"],
      additionalProperties: false,
    });
  });

  it("may take each argument as a parameter", async () => {
    await using opened = await open({
      "a.js": `
/**
 * Repeats a text.
 * @param {string} text - The text
 * @param {Integer} [times=2] - How often
 */
export const repeat = (text, times) => text.repeat(times);
/**
 * @param {Object} options
 * @param {string} options.text - The text
 */
export const upper = ({ text }) => text.toUpperCase();
`,
    });
    expect(opened.problems).toEqual([]);
    expect(opened.tools.map(({ parameters }) => parameters["properties"])).toEqual([
      {
        text: { type: "string", description: "The text" },
        times: { type: "integer", description: "How often", default: 2 },
      },
      { text: { type: "string", description: "The text" } },
    ]);
    expect((await opened.call("repeat", { text: "ab" })).result).toBe("abab");
    expect((await opened.call("upper", { text: "ab" })).result).toBe("AB");
  });

  it("need TypeScript 7, and the error says how to install it", async () => {
    const folder = await folderOf({ "a.ts": "export const a = () => 1;" });
    const program = `
      import { registerHooks } from "node:module";
      registerHooks({ resolve(name, context, next) {
        if (name.startsWith("typescript/")) throw Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" });
        return next(name, context);
      } });
      const { scriptsSource } = await import(${JSON.stringify(new URL("scripts.ts", import.meta.url).href)});
      const source = scriptsSource({ paths: [${JSON.stringify(folder)}] });
      await source.list({ signal: new AbortController().signal });
      console.log(source.problems[0].reason);`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    expect(stdout).toContain("need TypeScript 7 to read them: npm install typescript@7");
  });
});

// because Python and bash are not installed everywhere; with CI=true their absence fails.
describe.skipIf(languagesMissing() !== undefined)("the functions of Python and bash files", () => {
  it("are tools unless they are private or the file says otherwise", async () => {
    await using opened = await open({
      "a.py": "def one(): pass\nasync def two(): pass\ndef _hidden(): pass\nclass C:\n    def method(self): pass\n",
      "b.py": '__all__ = ["three"]\ndef three(): pass\ndef helper(): pass\n',
      "four.py": "def run(): pass\ndef helper(): pass\n",
      "_private.py": "def private(): pass\n",
      "a.sh": "# @describe Five\nfive() { :; }\nhelper() { :; }\n# @cmd Six\nfunction six {\n  :\n}\n",
      "seven.sh": "# @describe Seven\n\nset -e\n_helper() { :; }\nmain() { :; }\n",
    });
    expect(opened.problems).toEqual([]);
    expect(names(opened).toSorted()).toEqual(["five", "four", "one", "seven", "six", "three", "two"]);
  });

  it("take dataclasses and typed dictionaries, with the schema that TypeScript has for the same type", async () => {
    await using opened = await open({
      "a.py": `
from __future__ import annotations
from dataclasses import dataclass
from typing import Annotated, Optional, TypedDict, Union

@dataclass
class Point:
    """A place.

    Attributes:
        x: To the right
    """
    x: float
    y: float = 0.5

class Scaled(TypedDict):
    scale: int

class Options(Scaled, total=False):
    name: str

def sum_up(points: list[Point], options: Options, extra: Union[str, int], note: Annotated[str, "Said at the end"] = "done", by: Optional[dict[str, float]] = None):
    return [sum(point.x + point.y for point in points) * options["scale"], extra, note, by]
`,
      "b.ts": `
type Integer = number;
interface Point {
  /** To the right */
  x: number;
  y?: number;
}
interface Options {
  scale: Integer;
  name?: string;
}
interface Args {
  points: Point[];
  options: Options;
  extra: string | Integer;
  /** Said at the end */
  note?: string;
  by?: Record<string, number>;
}
export function sum_down({ points, options, extra, note = "done", by }: Args) {
  return [points.reduce((sum, { x, y = 0.5 }) => sum + x + y, 0) * options.scale, extra, note, by ?? null];
}
`,
    });
    expect(opened.problems).toEqual([]);
    const [down, up] = opened.tools;
    const defaultOfY = { points: { items: { properties: { y: { default: 0.5 } } } } };
    expect(up?.parameters).toMatchObject({ properties: defaultOfY });
    expect(JSON.parse(JSON.stringify(up?.parameters).replace(',"default":0.5', ""))).toEqual(down?.parameters);
    const args = { points: [{ x: 1 }, { x: 2, y: 3 }], options: { scale: 2 }, extra: 7 };
    expect((await opened.call("sum_up", args)).result).toEqual([13, 7, "done", null]);
    expect((await opened.call("sum_down", args)).result).toEqual([13, 7, "done", null]);
  });

  it("may have defaults that JSON cannot hold, which are left to them", async () => {
    await using opened = await open({
      "a.py": "def odd(x={1, 2}, y=b'a', z: float = 1e999, now: int = len('a')): return [len(x), str(y), z > 1, now]\n",
      "b.py": "def even(x: int = -3, y: tuple[int, ...] = (1, 2)): return [x, *y]\n",
    });
    expect(opened.problems).toEqual([]);
    expect(opened.tools.map(({ parameters }) => parameters["properties"])).toEqual([
      { x: { type: "integer", default: -3 }, y: { type: "array", items: { type: "integer" }, default: [1, 2] } },
      { x: {}, y: {}, z: { type: "number" }, now: { type: "integer" } },
    ]);
    expect((await opened.call("odd")).result).toEqual([2, "b'a'", true, 1]);
    expect((await opened.call("even")).result).toEqual([-3, 1, 2]);
  });

  it("run as llm-functions writes them, with argc's variables", async () => {
    await using opened = await open({
      "greet.sh": `#!/usr/bin/env bash
set -e

# @describe Greet people,
# one after the other.

# @option -n --full-name+ <NAME>  The names
# @option --tone[=kind|curt]      The tone
# @flag   --loud                  Whether to shout
# @meta require-tools cat
# @env LLM_OUTPUT=/dev/stdout The output path

main() {
    local mark=.
    if [[ -n "$argc_loud" ]]; then mark=!; fi
    for name in "\${argc_full_name[@]}"; do echo "hello $name ($argc_tone)$mark" >> "$LLM_OUTPUT"; done
}

eval "$(argc --argc-eval "$0" "$@")"
`,
    });
    expect(opened.problems).toEqual([]);
    expect(opened.tools[0]).toMatchObject({
      name: "greet",
      description: expect.stringContaining("one after the other"),
    });
    expect(opened.tools[0]?.parameters).toEqual({
      type: "object",
      properties: {
        full_name: { type: "array", items: { type: "string" }, description: "The names" },
        tone: { type: "string", enum: ["kind", "curt"], default: "kind", description: "The tone" },
        loud: { type: "boolean", default: false, description: "Whether to shout" },
      },
      required: ["full_name"],
      additionalProperties: false,
    });
    const { result } = await opened.call("greet", { full_name: ["Ada L.", "$(id)"], loud: true });
    expect(result).toBe("hello Ada L. (kind)!\nhello $(id) (kind)!");
  });

  it("are reported with file and line if they cannot be read, and the others stay", async () => {
    await using opened = await open({
      "a.py": "def good(): pass\n\ndef bad(x: Path): pass\n\ndef worse(*args): pass\n",
      "b.py": "def broken(:\n",
      "c.ts": 'import type { Far } from "./far.ts";\nexport function fine() {}\nexport function far(args: Far) {}\n',
      "tree.ts": "interface Tree {\n  kids: Tree[];\n}\nexport const tree = (t: Tree) => t;\n",
      "d.ts": "export function broken( {\n",
      "e.sh": "# @describe OK\nworks() { :; }\n# @describe Bad\n# @option --n=ten <INT>\nfails() { :; }\n",
      "f.sh": "# @describe Broken\nbroken() {\n",
      "g.js": "export const x = 1;",
      "h.py": "# @nothing\ndef good(): pass\n",
    });
    expect(names(opened).toSorted()).toEqual(["fine", "good", "works"]);
    const starts = [
      "a.py, line 3: the type Path cannot be written as JSON Schema",
      "a.py, line 5: worse takes *args or **kwargs; name each argument",
      "b.py, line 1: invalid syntax",
      "c.ts, line 3: far: the type Far cannot be read",
      "d.ts, line 2: '}' expected.",
      "e.sh, line 4: n: ten is not of type integer",
      "f.sh, line 3: syntax error",
      "g.js: It exports no function.",
      "h.py, line 2: good is already declared in",
      "tree.ts, line 1: tree: the type Tree contains itself",
    ];
    expect(opened.problems.toSorted()).toEqual(starts.map((start) => expect.stringContaining(start)));
  });

  it("are read without being run", async () => {
    await using opened = await open({
      "a.py": 'open("ran-a", "w")\ndef one(): pass\n',
      "b.ts": 'import { writeFileSync } from "node:fs";\nwriteFileSync("ran-b", "");\nexport const two = () => 2;\n',
      "c.sh": "# @describe Three\nthree() { :; }\ntouch ran-c\n",
    });
    expect(names(opened)).toEqual(["one", "three", "two"]);
    expect(["ran-a", "ran-b", "ran-c"].filter((name) => existsSync(join(opened.folder, name)))).toEqual([]);
  });

  it("are left out where their program is missing, which is said of each file", async () => {
    const files = {
      "a.py": "def one(): pass\n",
      "b.sh": "# @describe Two\ntwo() { :; }\n",
      "c.js": "export const three = () => 3;",
    };
    await using opened = await open(files, { python: "no-such-python", bash: "/no/such/bash" });
    expect(names(opened)).toEqual(["three"]);
    expect(opened.problems).toEqual([
      "a.py: It needs no-such-python, which is not on the PATH. Install it, or set python to its path.",
      "b.sh: It needs /no/such/bash, which is not on the PATH. Install it, or set bash to its path.",
    ]);
  });
});

it("reports what is not a tool as an event, once", async () => {
  const folder = await folderOf({ "a.js": "export const one = () => 1;", "b.js": "export const x = 1;" });
  await using arsenal = new ToolArsenal();
  const rejected: unknown[] = [];
  arsenal.subscribe((event) => event.name === "tool-rejected" && rejected.push(event.data));
  const source = scriptsSource({ paths: [folder] });
  await arsenal.add(source);
  await source.list({ signal: new AbortController().signal });
  const name = join(folder, "b.js");
  expect(rejected).toEqual([{ name, code: "TOOL_INVALID", message: `${name}: It exports no function.` }]);
});

it("stops reading when told to", async () => {
  const source = scriptsSource({ paths: [await folderOf({ "a.js": "export const one = () => 1;" })] });
  await expect(source.list({ signal: AbortSignal.abort() })).rejects.toThrow("aborted");
  expect(source.problems).toEqual([]);
});

it("lists again when a file changes, comes or goes", async () => {
  const folder = await folderOf({ "a.js": "export const one = () => 1;" });
  await using arsenal = new ToolArsenal();
  const registered = (name: string): Promise<void> =>
    new Promise((resolve) => {
      const end = arsenal.subscribe((event) => {
        if (event.name !== "tool-registered" || event.data.toolId !== `t.${name}`) return;
        end();
        resolve();
      });
    });
  await arsenal.add(scriptsSource({ name: "t", paths: [folder] }));
  const second = registered("two");
  await writeFile(join(folder, "a.js"), "export const two = () => 2;");
  await second;
  const third = registered("three");
  await writeFile(join(folder, "b.js"), "export const three = () => 3;");
  await third;
  expect((await arsenal.listTools()).map(({ id }) => id)).toEqual(["t.three", "t.two"]);
});

it("finds files by path, by folder and by pattern", async () => {
  const folder = await folderOf({
    "a.js": "export const a = () => 1;",
    "notes.txt": "",
    "deep/b.js": "export const b = () => 1;",
    "deep/er/c.js": "export const c = () => 1;",
    "_d.js": "export const d = () => 1;",
  });
  const listed = async (...paths: string[]): Promise<readonly unknown[]> => {
    const source = scriptsSource({ paths: paths.map((path) => join(folder, path)) });
    const { signal } = new AbortController();
    const tools = (await source.list({ signal })).map(({ draft }) => draft.name);
    return [...tools, ...source.problems.map(({ reason }) => reason)];
  };
  expect(await listed(".")).toEqual(["a"]);
  expect(await listed("a.js", "_d.js")).toEqual(["a", "d"]);
  expect(await listed("deep/**/*.js")).toEqual(["b", "c"]);
  expect(await listed("a.js", "nowhere", "notes.txt")).toEqual([
    "a",
    "There is no such file or folder.",
    expect.stringContaining("It has to end in .ts"),
  ]);
});
