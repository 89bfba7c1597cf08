import { describe, expect, it } from "vitest";
import { memoryAudit } from "../adapters/audit/memory.ts";
import { ToolArsenal } from "../arsenal.ts";
import { localOperator } from "../guard/principal.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createToolset, type ToolsetBuilder } from "./builder.ts";

const TOOLS = [
  { namespace: "mcp.github", name: "create_issue", tags: ["ci-cd"], category: "write" },
  { namespace: "mcp.github", name: "delete_repo", tags: ["ci-cd"], category: "write" },
  { namespace: "mcp.github", name: "list_stars", tags: ["social"], category: "read-only" },
  { namespace: "mcp.kubernetes", name: "get_pods", tags: ["monitoring"], category: "read-only" },
  { namespace: "mcp.slack", name: "post_message", tags: ["deployment"], category: "write" },
] as const;

function register(arsenal: ToolArsenal, ...tools: readonly Partial<(typeof TOOLS)[number]>[]): void {
  for (const tool of tools)
    arsenal.register({ ...tool, name: tool.name ?? "", description: `Will ${tool.name} when asked.` }, () => tool.name);
}

function arsenalOf(tools: readonly (typeof TOOLS)[number][] = TOOLS): ToolArsenal {
  const arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, clock: createManualClock(1_000) });
  register(arsenal, ...tools);
  return arsenal;
}

async function toolsOf(arsenal: ToolArsenal, toolset: string): Promise<readonly string[]> {
  return (await arsenal.listTools({ toolset })).map(({ id }) => id);
}

describe("the toolset builder", () => {
  it.each([
    [
      "either of two namespaces",
      (draft: ToolsetBuilder) => draft.withNamespace("mcp.kubernetes").withNamespace("mcp.slack"),
      ["mcp.kubernetes.get_pods", "mcp.slack.post_message"],
    ],
    [
      "any of the tags",
      (draft: ToolsetBuilder) => draft.withTags("social", "monitoring"),
      ["mcp.github.list_stars", "mcp.kubernetes.get_pods"],
    ],
    ["the ids", (draft: ToolsetBuilder) => draft.withTools("mcp.slack.post_message"), ["mcp.slack.post_message"]],
    [
      "a category",
      (draft: ToolsetBuilder) => draft.withCategory("read-only"),
      ["mcp.github.list_stars", "mcp.kubernetes.get_pods"],
    ],
    [
      "a filter of your own",
      (draft: ToolsetBuilder) => draft.where({ not: { namespaces: ["mcp.github"] } }),
      ["mcp.kubernetes.get_pods", "mcp.slack.post_message"],
    ],
    [
      "everything but what is excluded, even if another condition names it",
      (draft: ToolsetBuilder) =>
        draft.withTools("mcp.github.delete_repo", "mcp.github.create_issue").excludeTools("mcp.github.delete_repo"),
      ["mcp.github.create_issue"],
    ],
    [
      "what meets every kind of condition",
      (draft: ToolsetBuilder) =>
        draft
          .withNamespace("mcp.github", "mcp.kubernetes")
          .withTags("ci-cd", "deployment", "monitoring")
          .where({ not: { categories: ["read-only"] } }),
      ["mcp.github.create_issue", "mcp.github.delete_repo"],
    ],
  ])(
    "selects %s [003-toolset-namespace] [003-toolset-tags] [003-toolset-ids] [003-toolset-category] [003-toolset-exclude] [003-toolset-combine]",
    async (_what, choose, ids) => {
      await using arsenal = arsenalOf();
      await choose(createToolset("chosen").fromCatalog(arsenal)).build();
      expect(await toolsOf(arsenal, "chosen")).toEqual(ids);
    },
  );

  it("keeps what is said about a toolset, with the times of its first and last build [003-toolset-metadata]", async () => {
    const clock = createManualClock(1_000);
    await using arsenal = new ToolArsenal({ embedder: { tier: "lexical" }, clock });
    register(arsenal, ...TOOLS);
    const draft = createToolset("devops-tools").fromCatalog(arsenal).taggedAs("internal").ownedBy("platform-team");
    await draft.withDescription("For the platform team.").build();
    await clock.advance(500);

    expect(await draft.withDescription("For everyone on call.").withTags("ci-cd").build()).toEqual({
      name: "devops-tools",
      description: "For everyone on call.",
      tags: ["internal"],
      owner: "platform-team",
      filter: { tags: ["ci-cd"] },
      view: "live",
      policy: {},
      createdAt: 1_000,
      updatedAt: 1_500,
    });
    expect(JSON.parse(JSON.stringify(arsenal.toolsets.list(localOperator())))).toHaveLength(1);
  });

  it("leaves a builder as it was, so that two toolsets can share a beginning", async () => {
    await using arsenal = arsenalOf();
    const github = createToolset("github").fromCatalog(arsenal).withNamespace("mcp.github");
    const safe = await github.excludeTools("mcp.github.delete_repo").build();
    expect((await github.build()).filter).toEqual({ namespaces: ["mcp.github"] });
    expect(safe.filter).not.toEqual({ namespaces: ["mcp.github"] });
  });

  it("follows the catalog: a tool that matches later appears, one that is deleted disappears [003-toolset-live]", async () => {
    await using arsenal = arsenalOf();
    await createToolset("kubernetes").fromCatalog(arsenal).withNamespace("mcp.kubernetes").build();
    register(arsenal, { namespace: "mcp.kubernetes", name: "get_nodes" } as never);
    expect(await toolsOf(arsenal, "kubernetes")).toEqual(["mcp.kubernetes.get_nodes", "mcp.kubernetes.get_pods"]);
    await arsenal.deleteTool("get_pods", "mcp.kubernetes");
    expect(await toolsOf(arsenal, "kubernetes")).toEqual(["mcp.kubernetes.get_nodes"]);
  });

  it("freezes the tools that match now, if asked", async () => {
    await using arsenal = arsenalOf();
    const built = await createToolset("frozen").fromCatalog(arsenal).withNamespace("mcp.kubernetes").frozen().build();
    register(arsenal, { namespace: "mcp.kubernetes", name: "get_nodes" } as never);
    expect(built).toMatchObject({ view: "frozen", filter: { ids: ["mcp.kubernetes.get_pods"] } });
    expect(await toolsOf(arsenal, "frozen")).toEqual(["mcp.kubernetes.get_pods"]);
  });

  it("reports ids that the catalog does not have yet, and takes the tools when they come", async () => {
    await using arsenal = arsenalOf();
    const seen: unknown[] = [];
    arsenal.subscribe(({ name, data, level }) => {
      if (name === "toolset-tools-missing") seen.push([level, data]);
    });
    await createToolset("later")
      .fromCatalog(arsenal)
      .withTools("mcp.slack.post_mesage", "mcp.jira.create_ticket")
      .excludeTools("mcp.jira.delete_ticket")
      .build();
    register(arsenal, { namespace: "mcp.jira", name: "create_ticket" } as never);

    expect(await toolsOf(arsenal, "later")).toEqual(["mcp.jira.create_ticket"]);
    await arsenal.close();
    expect(seen).toEqual([
      [
        "warn",
        {
          toolset: "later",
          ids: ["mcp.slack.post_mesage", "mcp.jira.create_ticket", "mcp.jira.delete_ticket"],
          message: 'The catalog has no tool "mcp.slack.post_mesage" yet. Did you mean "mcp.slack.post_message"?',
        },
      ],
    ]);
  });
});

describe("a filter of listTools", () => {
  it("is refused if it is not a filter, and if a second condition would be ignored", async () => {
    await using arsenal = arsenalOf();
    const list = (filter: unknown): Promise<unknown> => arsenal.listTools({ filter: filter as never });
    await expect(list({ risk: ["low"] })).rejects.toMatchObject({
      code: "QUERY_INVALID",
      message: "filter.risk is not a condition. Did you mean risks?",
      details: { field: "filter.risk" },
    });
    await expect(list({ tags: ["a"], risks: ["low"] })).rejects.toThrow("filter has two conditions, tags and risks.");
    await expect(list({ tags: "a" })).rejects.toThrow('filter.tags is not a list of strings: "a".');
    await expect(list({ names: ["get_*"] })).rejects.toThrow(
      'filter.names has the pattern "get_*". A filter has no patterns: list the names.',
    );
    await expect(list(["a"])).rejects.toThrow('filter is not a filter: ["a"].');
  });
});

describe("a toolset that cannot be built", () => {
  const invalid = (field: string, message: string): unknown =>
    expect.objectContaining({ code: "CONFIG_INVALID", message, details: expect.objectContaining({ field }) });

  it("is refused without a catalog, and with a frozen view of tools that are not there", async () => {
    await using arsenal = arsenalOf();
    await expect(createToolset("devops").build()).rejects.toEqual(
      invalid("catalog", 'Toolset "devops": catalog is missing. Call .fromCatalog(arsenal) before .build().'),
    );
    const empty = createToolset("empty").fromCatalog(arsenal).withNamespace("mcp.jira").frozen();
    await expect(empty.build()).rejects.toEqual(
      invalid(
        "view",
        'Toolset "empty": view is frozen, and no tool matches now, so it would stay empty. Build it once its tools are registered and connected, or leave out .frozen().',
      ),
    );
    const unknown = createToolset("typo").fromCatalog(arsenal).withTools("mcp.slack.post_mesage").frozen();
    await expect(unknown.build()).rejects.toEqual(
      invalid(
        "tools",
        'Toolset "typo": tools names "mcp.slack.post_mesage", which the catalog does not have. Did you mean "mcp.slack.post_message"?',
      ),
    );
  });

  const draft = createToolset("devops");
  it.each([
    ["name", () => createToolset(""), /The toolset name "" is invalid\. Use 1 to 64 lowercase letters/],
    ["catalog", () => draft.fromCatalog({} as never), /catalog is not an arsenal: \{\}\. Pass a ToolArsenal/],
    ["namespaces", () => draft.withNamespace(), /namespaces is empty\. Name at least one\./],
    ["tags", () => draft.withTags(["ci-cd"] as never), /tags has \["ci-cd"\], which is not a string\. Pass each/],
    ["tools", () => draft.withTools(""), /tools has "", which is not a string\./],
    ["tools", () => draft.withTools("github.*"), /tools has "github\.\*", which is not an id\. .*namespace\.name/],
    ["exclude", () => draft.excludeTools("delete_repo"), /exclude has "delete_repo", which is not an id\./],
    ["description", () => draft.withDescription(7 as never), /description is not a string: 7\./],
    ["where.tag", () => draft.where({ tag: ["a"] } as never), /where\.tag is not a condition\. Did you mean tags\?/],
    [
      "where",
      () => draft.where({ tags: ["a"], risks: ["low"] } as never),
      /where has two conditions, tags and risks\. Combine them: \{ all:/,
    ],
    ["where.all.0.risks", () => draft.where({ all: [{ risks: ["mild" as never] }] }), /unknown value "mild"\. Use low/],
    ["policy.allowedRole", () => draft.withPolicy({ allowedRole: ["sre"] } as never), /Did you mean allowedRoles\?/],
    [
      "policy.allowedRoles",
      () => draft.withPolicy({ allowedRoles: "sre" as never }),
      /is not a list of strings: "sre"/,
    ],
    ["policy.allowedTenants", () => draft.withPolicy({ allowedTenants: [] }), /is empty, so no caller could use it/],
    [
      "policy.rateLimit.requestsPerMinute",
      () => draft.withPolicy({ rateLimit: { requestsPerMinute: 0 } }),
      /is not a whole number from 1 to 1000000: 0/,
    ],
    ["policy.auditLog", () => draft.withPolicy({ auditLog: "yes" as never }), /is not true or false: "yes"/],
  ])("says what is wrong with %s, and how to fix it", (field, call, message) => {
    expect(call).toThrow(invalid(field, expect.stringMatching(message) as never) as Error);
  });

  it("is refused if it must be audited and nothing is recorded", async () => {
    await using arsenal = arsenalOf();
    const audited = createToolset("devops").withPolicy({ auditLog: true });
    await expect(audited.fromCatalog(arsenal).build()).rejects.toEqual(
      invalid(
        "policy.auditLog",
        'Toolset "devops": policy.auditLog is true, and the arsenal has no audit log. Set audit.file or audit.type in the configuration, or pass one: new ToolArsenal({ ...config, audit }).',
      ),
    );
    await using recording = new ToolArsenal({ audit: memoryAudit() });
    expect((await audited.fromCatalog(recording).build()).policy).toEqual({ auditLog: true });
  });
});
