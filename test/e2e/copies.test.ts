import { describe, expect, it } from "vitest";
import { ToolArsenal, type ToolArsenalParts } from "../../src/index.ts";
import type { Embedder } from "../../src/adapters/embedders/index.ts";
import type { Source } from "../../src/adapters/sources/index.ts";

const quiet = { telemetry: { enabled: false }, embedder: { tier: "lexical" } } as const;

function server(name: string, tools: Readonly<Record<string, string>>): Source {
  return {
    name,
    kind: "mcp",
    connect: () => Promise.resolve(),
    list: async () =>
      Object.entries(tools).map(([tool, description]) => ({ draft: { name: tool, description }, handler: () => name })),
    disconnect: () => Promise.resolve(),
  };
}

const weather = { get_weather: "Gets the weather forecast of a city for the next days." };
const others = {
  weather_alerts: "Lists weather warnings that are in force for a city or region.",
  send_mail: "Sends a mail to somebody.",
  book_table: "Books a table in a restaurant.",
};

describe("the same tool on two servers", () => {
  async function ids(limit: number, config = {}, parts: ToolArsenalParts = {}): Promise<readonly string[]> {
    await using arsenal = new ToolArsenal({ ...quiet, ...config, ...parts });
    await arsenal.add(server("@alice/skies-mcp-server", weather));
    await arsenal.add(server("@bob/Heavens MCP", weather));
    await arsenal.add(server("misc", others));
    const { tools } = await arsenal.retrieve({ context: { query: "weather forecast for a city" }, limit });
    return tools.map(({ tool }) => tool.id);
  }

  it("is shown once where another tool fits and there is room for two", async () => {
    const [first, second] = await ids(2);
    expect([first?.endsWith(".get_weather"), second]).toEqual([true, "misc.weather_alerts"]);
  });

  it("is shown once also where its vectors differ by the servers' names", async () => {
    const embedder: Embedder = {
      model: "places",
      dimension: 3,
      embed: async (texts) =>
        texts.map((text) => {
          if (/^(?:skies|heavens) get/.test(text)) return Float32Array.of(0.8, text.startsWith("s") ? 0.6 : -0.6, 0);
          if (text.includes("warnings")) return Float32Array.of(0.825, 0, Math.sqrt(1 - 0.825 ** 2));
          return text.startsWith("misc") ? Float32Array.of(0, 0, 1) : Float32Array.of(1, 0, 0);
        }),
      healthCheck: () => Promise.resolve(true),
    };
    const [first, second] = await ids(2, {}, { embedder });
    expect([first?.endsWith(".get_weather"), second]).toEqual([true, "misc.weather_alerts"]);
  });

  it("is shown twice where there is room for all that fits, or where diversity is off", async () => {
    expect((await ids(3)).filter((id) => id.endsWith(".get_weather"))).toHaveLength(2);
    expect((await ids(2, { routing: { enableMmr: false } })).filter((id) => id.endsWith(".get_weather"))).toHaveLength(
      2,
    );
  });
});

describe("the name of a server", () => {
  it("is searched as the source wrote it, without its owner [000-2.1-fields]", async () => {
    await using arsenal = new ToolArsenal(quiet);
    await arsenal.add(server("@alice/GitHub-MCP-Server", { create_issue: "Opens an issue in a repository." }));
    await arsenal.add(server("@alice/GitLab", { create_issue: "Opens an issue in a project." }));
    const found = async (query: string): Promise<readonly string[]> =>
      (await arsenal.retrieve({ context: { query }, scoreThreshold: 0 })).tools.map(({ tool }) => tool.namespace);
    expect(await found("github")).toEqual(["alice.github-mcp-server"]);
    expect((await found("git lab issue"))[0]).toBe("alice.gitlab");
    expect(await found("alice")).toEqual([]);
    expect(await found("server")).toEqual([]);
  });
});
