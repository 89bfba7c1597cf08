import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { KINDS } from "../../src/adapters/kinds.ts";
import { ToolArsenal } from "../../src/index.ts";
import { integrations } from "../../src/integrations/manifest.ts";
import { read, ROOT } from "./project.ts";

interface Exports {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

const UPDATE = "If you mean to change what users import, run: PIN_SURFACE=1 npx vitest run test/repo/surface.test.ts";

/** The module behind each subpath. */
const MODULES: Readonly<Record<string, string>> = {
  ".": "src/index.ts",
  ...Object.fromEntries(Object.keys(KINDS).map((kind) => [`./${kind}`, `src/adapters/${kind}/index.ts`])),
  ...Object.fromEntries(
    ["toolset", "ensembles", "agent", "client", "effect", "testing"].map((part) => [
      `./${part}`,
      `src/${part}/index.ts`,
    ]),
  ),
};

const surface: Record<string, Exports | readonly string[]> = {
  exports: Object.keys((JSON.parse(read("package.json")) as { readonly exports: object }).exports).sort(),
};
// An integration can only be loaded with its framework, so its exports are read from its text.
for (const name of Object.keys(integrations)) {
  const path = `src/integrations/${name}.ts`;
  surface[`./integrations/${name}`] = namesOf(path, read(path)).toSorted();
}
for (const [subpath, path] of Object.entries(MODULES))
  surface[subpath] = exportsOf(path, (await import(`${ROOT}${path}`)) as object);

it("the façade has at most 28 members", () => {
  const own = Object.getOwnPropertyNames(ToolArsenal.prototype).filter((name) => name !== "constructor");
  const ofClass = Object.keys(Object.getOwnPropertyDescriptors(ToolArsenal));
  const members = [...own, ...ofClass.filter((name) => !["length", "name", "prototype"].includes(name))];
  expect(members.length, members.join(", ")).toBeLessThanOrEqual(28);
});

describe("public surface", () => {
  if (process.env["PIN_SURFACE"] === "1") {
    writeFileSync(`${ROOT}test/surface.json`, `${JSON.stringify(surface, null, 2)}\n`);
    execFileSync(`${ROOT}node_modules/.bin/oxfmt`, [`${ROOT}test/surface.json`]);
  }
  const pinned = JSON.parse(read("test/surface.json")) as typeof surface;

  it.each(Object.keys(surface))("%s is as pinned in test/surface.json", (part) => {
    expect(surface[part], UPDATE).toEqual(pinned[part]);
  });

  it("has at most 20 values in its root", () => {
    expect((surface["."] as Exports).values.length).toBeLessThanOrEqual(20);
  });

  it("has no default export, and one place for each value, but for the errors that a web page needs", () => {
    const again = ["ArsenalError", "isArsenalError"];
    const values = Object.keys(MODULES).flatMap((subpath) => {
      const all = (surface[subpath] as Exports).values;
      return subpath === "./client" ? all.filter((name) => !again.includes(name)) : all;
    });
    expect(values).not.toContain("default");
    expect(values.filter((name, index) => values.indexOf(name) !== index)).toEqual([]);
  });

  it("reads every form of export that the public modules use", () => {
    const names = namesOf(
      "x.ts",
      'export { a, type B } from "./y.ts";\nexport type {\n  C,\n  D as E,\n} from "./z.ts";\nexport interface F {}',
    );
    expect(names).toEqual(["a", "B", "C", "E", "F"]);
  });
});

function exportsOf(path: string, loaded: object): Exports {
  const values = Object.keys(loaded).sort();
  const names = new Set(namesOf(path, read(path)));
  return { values, types: [...names].filter((name) => !values.includes(name)).sort() };
}

/** Every name a module exports, types included, following `export *`. */
function namesOf(path: string, text: string): readonly string[] {
  const names: string[] = [];
  for (const [, list = ""] of text.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm)) {
    for (const item of list.split(",")) {
      const name = item
        .trim()
        .replace(/^type\s+/, "")
        .replace(/^.*\sas\s+/, "");
      if (name !== "") names.push(name);
    }
  }
  for (const [, from = ""] of text.matchAll(/^export\s+(?:type\s+)?\*\s+from\s+"([^"]+)"/gm)) {
    const target = posix.join(posix.dirname(path), from);
    names.push(...namesOf(target, read(target)));
  }
  const declared =
    /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:interface|type|const|function|class)\s+(\w+)/gm;
  for (const [, name = ""] of text.matchAll(declared)) names.push(name);
  return names;
}
