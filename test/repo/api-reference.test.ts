import { describe, expect, it } from "vitest";
import { apiPage, entryPoints, pageOf, withoutExample } from "../../scripts/api-reference.ts";

describe("the pages of docs/reference/api", () => {
  it("name every export that test/surface.json pins", () => {
    const points = entryPoints();
    expect(points.length).toBeGreaterThan(30);
    const missing = points.flatMap((point) => {
      const text = apiPage(point);
      return [...point.values, ...point.types].filter(
        (name) => !text.includes(`\n## ${name}\n`) && !text.includes(`\n| \`${name}\` |`),
      );
    });
    expect(missing).toEqual([]);
  });

  it("have an example for every function, class and constant, and for every type one that uses it [000-13-docs]", () => {
    expect(withoutExample(), "Use it in a program of docs/reference/examples.md or a guide").toEqual([]);
  });

  it("have a sentence for every export", () => {
    const silent = entryPoints().flatMap((point) => {
      const text = apiPage(point);
      const rows = text.matchAll(/^\| `(\w+)` \| +\|/gm);
      const sections = text.matchAll(/^## (\w+)\n\n(?=`|<!--|##)/gm);
      return [...rows, ...sections].map(([, name = ""]) => `${point.entry}: ${name}`);
    });
    expect(silent, "Give it a doc comment").toEqual([]);
  });

  it("lead from a type to a section that exists", () => {
    const points = entryPoints();
    const texts = new Map(points.map((point) => [pageOf(point.entry), apiPage(point)]));
    const broken = [...texts].flatMap(([page, text]) =>
      [...text.matchAll(/^\| `(\w+)` \|.*\| \[(\w+)\]\(([\w-]*\.md)?#\w+\)[^|]*\|$/gm)]
        .filter(([, , value = "", other]) => {
          const target = other === undefined ? page : `docs/reference/api/${other}`;
          return texts.get(target)?.includes(`\n## ${value}\n`) !== true;
        })
        .map(([, name = ""]) => `${page}: ${name}`),
    );
    expect(broken).toEqual([]);
  });

  it("are reported if a section has no program, or a type leads nowhere", () => {
    const text = [
      "## load\n\nLoads it.\n",
      "## save\n\n```ts\nsave();\n```\n",
      "## Types\n\n| type | about | example |\n|---|---|---|",
      "| `Saved` | The result. | [save](#save) |",
      '| `Mode` | `"a" \\| "b"` |  |',
    ].join("\n");
    expect(withoutExample([{ entry: "toolarsenal/x", text }])).toEqual(["toolarsenal/x: load", "toolarsenal/x: Mode"]);
  });
});

describe("the example of a type", () => {
  const points = entryPoints();
  const rowOf = (entry: string, name: string): string =>
    apiPage(points.find((point) => point.entry === entry) as (typeof points)[number])
      .split("\n")
      .find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";

  it("is a program that imports it", () => {
    expect(rowOf("toolarsenal", "ToolFilter")).toContain("(../examples.md#types-of-tools-and-requests)");
  });

  it("is the function that takes or returns it", () => {
    expect(rowOf("toolarsenal/audit", "FileAuditOptions")).toContain("[fileAudit](#fileaudit)");
  });

  it("is a program that calls a member with it", () => {
    expect(rowOf("toolarsenal/client", "QuotaStatus")).toContain("(../examples.md#operate-a-gateway-from-code)");
  });

  it("is that of a type which contains it, and says which", () => {
    expect(rowOf("toolarsenal/client", "WorkflowStepView")).toContain(", in `WorkflowViews` → `WorkflowView` |");
  });
});
