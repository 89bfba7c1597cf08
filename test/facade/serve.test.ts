import { afterEach, expect, it } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import type { ServeOptions } from "../../src/serve/serve-arsenal.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** One path of each surface. */
const PATHS = {
  mcp: "/mcp",
  rest: "/api/v1/tools",
  a2a: "/.well-known/agent-card.json",
  ui: "/ui/",
  health: "/healthz",
} as const;

/** The surfaces that are there: a path without one answers 404. */
async function servedBy(open: (arsenal: ToolArsenal) => ReturnType<ToolArsenal["serve"]>): Promise<readonly string[]> {
  const arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    embedder: { tier: "lexical" },
    a2a: { a2aPort: 1 },
  });
  const { url = "", close } = await open(arsenal);
  ends.push(close, () => arsenal.close());
  const found = await Promise.all(
    Object.entries(PATHS).map(async ([name, path]) => ((await fetch(url + path)).status === 404 ? [] : [name])),
  );
  return found.flat();
}

it.each<readonly [ServeOptions, readonly string[]]>([
  [{}, ["mcp", "rest", "a2a", "ui", "health"]],
  [{ mcp: false }, ["rest", "a2a", "ui", "health"]],
  [{ a2a: false, ui: false }, ["mcp", "rest", "health"]],
  // The dashboard uses REST.
  [{ rest: false }, ["mcp", "a2a", "health"]],
])("serve(%j) serves %j", async (options, expected) => {
  expect(await servedBy((arsenal) => arsenal.serve({ port: 0, ...options }))).toEqual(expected);
});

it("serveMcp and serveA2a serve what their names say", async () => {
  expect(await servedBy((arsenal) => arsenal.serveMcp({ port: 0 }))).toEqual(["mcp", "health"]);
  expect(await servedBy((arsenal) => arsenal.serveA2a({ port: 0 }))).toEqual(["a2a", "health"]);
});
