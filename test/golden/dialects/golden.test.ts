import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { normaliseTool } from "../../../src/tool/normalise/normalise-tool.ts";
import type { Tool } from "../../../src/tool/tool.ts";
import type { Dialect } from "../../../src/transcode/dialect.port.ts";
import { EVERY_DIALECT } from "./every-dialect.ts";
import { SCHEMAS } from "./schemas.ts";

/** One entry of a golden file. */
interface Golden {
  readonly definition: Record<string, unknown>;
  /** `action path keyword: message` */
  readonly losses: readonly string[];
}

type GoldenFile = Readonly<Record<string, { readonly plain: Golden; readonly strict?: Golden }>>;

const UPDATE = process.env["UPDATE_GOLDEN"] === "1";
const HOW = "If the change is meant, run: UPDATE_GOLDEN=1 npx vitest run test/golden, and read the difference";

function pathOf(file: string): string {
  return fileURLToPath(new URL(`./${file}.json`, import.meta.url));
}

function toolFor(parameters: Tool["parameters"]): Tool {
  return defineTool({ name: "try_it", description: "A tool to try a schema with.", parameters, createdAt: 0 });
}

function toGolden(dialect: Dialect, tool: Tool, strict: boolean): Golden {
  const { definition, losses } = dialect.convert(tool, { strict });
  return {
    definition,
    losses: losses.map(({ action, path, keyword, message }) => `${action} ${path || "/"} ${keyword}: ${message}`),
  };
}

function write(dialect: Dialect): GoldenFile {
  const entries = Object.entries(SCHEMAS).map(([name, parameters]) => {
    const tool = toolFor(parameters);
    const hasStrict = dialect.convert(toolFor({ type: "object" }), { strict: true }).strict;
    return [
      name,
      { plain: toGolden(dialect, tool, false), ...(hasStrict ? { strict: toGolden(dialect, tool, true) } : {}) },
    ];
  });
  return throughJson(Object.fromEntries(entries), abridge) as GoldenFile;
}

/** Nobody reads a thousand lines of one list. */
function abridge(_key: string, value: unknown): unknown {
  if (!Array.isArray(value) || value.length <= 50) return value;
  return [value[0], `… ${value.length - 2} more …`, value.at(-1)] as unknown[];
}

function throughJson(value: unknown, replace?: (key: string, value: unknown) => unknown): unknown {
  return JSON.parse(JSON.stringify(value, replace));
}

describe("golden files", () => {
  if (UPDATE) {
    for (const [file, dialect] of EVERY_DIALECT)
      writeFileSync(pathOf(file), `${JSON.stringify(write(dialect), null, 2)}\n`);
    afterAll(() => {
      const oxfmt = fileURLToPath(new URL("../../../node_modules/.bin/oxfmt", import.meta.url));
      execFileSync(oxfmt, [fileURLToPath(new URL(".", import.meta.url))]);
    });
  }

  it("are made of at least thirty schemas", () => {
    expect(Object.keys(SCHEMAS).length).toBeGreaterThanOrEqual(30);
  });

  describe.each(EVERY_DIALECT)("%s", (file, dialect) => {
    const golden = JSON.parse(readFileSync(pathOf(file), "utf8")) as GoldenFile;

    it("is written as before, with every change on record [003-adapter-losses]", () => {
      expect(write(dialect), HOW).toEqual(golden);
    });

    it.each(Object.entries(SCHEMAS))(
      "%s goes back to the tool it came from [003-adapter-restore]",
      (_name, parameters) => {
        const tool = toolFor(parameters);
        for (const strict of [false, true]) {
          const { definition } = dialect.convert(tool, { strict });
          expect(dialect.toCanonical(definition)).toEqual(tool);
          expect(dialect.toCanonical(throughJson(definition), { original: tool })).toEqual(tool);
        }
      },
    );

    it.each(Object.entries(SCHEMAS))("%s is read by who does not know where it came from", (_name, parameters) => {
      const definition = throughJson(dialect.fromCanonical(toolFor(parameters)));
      const tool = normaliseTool(dialect.toCanonical(definition), { source: "descriptor", namespace: "default" });
      expect(tool.id).toBe("default.try_it");
      expect(dialect.fromCanonical(tool)).toEqual(definition);
    });
  });
});
