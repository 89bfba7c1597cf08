import { internalsOf } from "../../src/arsenal.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { ToolArsenal } from "../../src/index.ts";

/** Three small servers: a browser, a notebook of files, and a memory. */
const TOOLS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  browser: {
    go_to_page: "Load a web page in the current tab, by its address.",
    press_element: "Press a button or link on the page.",
    fill_field: "Type text into a field of the page.",
    capture_page: "Take a picture of the page as it looks now.",
    go_back: "Return to the page that was shown before.",
    close_window: "Close the browser window.",
  },
  files: {
    open_file: "Read the text of a file on disk.",
    save_file: "Write text to a file on disk, creating the file if it does not exist.",
    find_files: "Find files whose name matches a pattern.",
    remove_file: "Delete a file from disk.",
    list_folder: "List what a folder contains.",
  },
  memory: {
    remember_fact: "Store a fact about a person or a thing for later conversations.",
    recall_facts: "Look up what was stored about a person or a thing.",
    forget_entity: "Remove a person or a thing, and everything stored about it, from memory.",
  },
};

async function open(tier: "static" | "tuned"): Promise<ToolArsenal> {
  const arsenal = new ToolArsenal({ telemetry: { enabled: false }, embedder: { tier, cache: false } });
  onTestFinished(() => arsenal.close());
  await arsenal.add(
    Object.entries(TOOLS).flatMap(([namespace, tools]) =>
      Object.entries(tools).map(([name, description]) => ({
        tool: { namespace, name, description, parameters: { type: "object", properties: {} } },
      })),
    ),
  );
  await internalsOf(arsenal).settled();
  return arsenal;
}

describe.each(["static", "tuned"] as const)("a catalog of 14 tools, ranked by the tier %s", (tier) => {
  it("answers short requests with concrete values", async () => {
    const arsenal = await open(tier);
    for (const [query, expected] of [
      ["open example.com", "go_to_page"],
      ["save this as report.md", "save_file"],
      ["forget about Anna", "forget_entity"],
      ["what do you know about Anna?", "recall_facts"],
      ["screenshot", "capture_page"],
    ] as const) {
      const { tools } = await arsenal.retrieve({ context: { query } });
      expect(
        tools.map(({ tool }) => tool.name),
        query,
      ).toContain(expected);
    }
  });

  it("returns nothing for a request that every tool is far from, and says so whatever `refuse` is", async () => {
    const arsenal = await open(tier);
    const context = { query: "How many calories does a bowl of lentil soup with two slices of rye bread have?" };
    const refused = await arsenal.retrieve({ context });
    expect(refused).toMatchObject({ tools: [], nothingFits: true });
    expect(refused.nearest).toHaveLength(3);
    const kept = await arsenal.retrieve({ context, refuse: "never" });
    expect(kept.tools.length).toBeGreaterThan(0);
    expect(kept).toMatchObject({ nothingFits: true, confidence: refused.confidence });
  });

  it("gives a short impossible request a low confidence", async () => {
    const arsenal = await open(tier);
    const { confidence } = await arsenal.retrieve({ context: { query: "translate this poem into Latin" } });
    expect(confidence).toBeLessThan(0.4);
  });
});

it.each([
  ["never", 3],
  ["eager", 0],
] as const)("routing.refuse: %s decides for every query that does not say", async (refuse, expected) => {
  const arsenal = new ToolArsenal({
    routing: { refuse },
    telemetry: { enabled: false },
    embedder: { tier: "static", cache: false },
  });
  onTestFinished(() => arsenal.close());
  const tools = Object.entries(TOOLS["memory"] ?? {}).map(([name, description]) => ({
    tool: { name, description, parameters: { type: "object", properties: {} } },
  }));
  await arsenal.add(tools);
  const context = { query: "How many calories does a bowl of lentil soup with two slices of rye bread have?" };
  expect((await arsenal.retrieve({ context })).tools).toHaveLength(expected);
});
