import { describe, expect, it } from "vitest";
import { ToolArsenal } from "../../arsenal.ts";
import { localOperator, type Principal } from "../../guard/principal.ts";
import { parseConfig } from "./load-config.ts";

const FILE = `
audit: { file: ./unused.jsonl }
toolsets:
  - name: devops-tools
    description: What the platform team works with.
    tags: [internal]
    owner: dana
    include:
      namespaces: [mcp.github, mcp.kubernetes]
      tags: [ci-cd, deployment, monitoring]
      where: { not: { risks: [critical] } }
    exclude: [mcp.github.delete_repo]
    policy:
      allowed_tenants: [acme-corp]
      allowed_roles: [devops, sre]
      rate_limit: { requests_per_minute: 60 }
      audit_log: true
  - name: everything
    include: {}
`;

describe("toolsets in a configuration file", () => {
  it("are those of the arsenal from the start", async () => {
    await using arsenal = new ToolArsenal(await parseConfig(FILE, "a.yaml"));
    const [devops, everything] = arsenal.toolsets.list(localOperator());
    expect(devops).toMatchObject({
      name: "devops-tools",
      description: "What the platform team works with.",
      tags: ["internal"],
      owner: "dana",
      filter: {
        all: [
          { namespaces: ["mcp.github", "mcp.kubernetes"] },
          { tags: ["ci-cd", "deployment", "monitoring"] },
          { not: { risks: ["critical"] } },
          { not: { ids: ["mcp.github.delete_repo"] } },
        ],
      },
      view: "live",
      policy: {
        allowedTenants: ["acme-corp"],
        allowedRoles: ["devops", "sre"],
        rateLimit: { requestsPerMinute: 60 },
        auditLog: true,
      },
    });
    expect(everything).toMatchObject({
      name: "everything",
      description: "",
      tags: [],
      filter: { all: [] },
      policy: {},
    });
  });

  it("select tools as written in code, too", async () => {
    await using arsenal = new ToolArsenal({
      embedder: { tier: "lexical" },
      toolsets: [{ name: "reading", include: { categories: ["read-only"], tools: ["docs.search"] }, view: "live" }],
    });
    const description = "Looks something up in the documents.";
    arsenal.register({ name: "search", namespace: "docs", category: "read-only", description }, () => "found");
    arsenal.register({ name: "browse", namespace: "docs", category: "read-only", description }, () => "found");
    expect((await arsenal.listTools({ toolset: "reading" })).map(({ id }) => id)).toEqual(["docs.search"]);
  });

  it("admit their owner, and those whom their policy names", async () => {
    await using arsenal = new ToolArsenal({
      toolsets: [{ name: "ours", owner: "dana", include: {}, policy: { allowedRoles: ["sre"] } }],
    });
    const names = (caller: Partial<Principal>): readonly string[] =>
      arsenal.toolsets.list(localOperator({ local: false, roles: [], ...caller })).map(({ name }) => name);
    expect([names({ id: "dana" }), names({ roles: ["sre"] }), names({ id: "eve" })]).toEqual([["ours"], ["ours"], []]);
  });

  const entry = (lines: string): string => `toolsets:\n  - ${lines.trim().split("\n").join("\n    ")}`;
  it.each([
    ["name: Dev Ops\ninclude: {}", 'a.yaml:2:5 toolsets.0.name: "Dev Ops" is not a valid name. Use 1 to 64 lowercase'],
    ["name: devops", "toolsets.0.include: is missing; it must be an object"],
    [
      "name: devops\nnamespaces: [github]\ninclude: {}",
      'a.yaml:3:5 toolsets.0.namespaces: unknown key "namespaces". Known keys here: name, description, tags, owner, mode, include, exclude, view, policy.',
    ],
    [
      "name: devops\ninclude: { tools: [] }",
      "a.yaml:3:16 toolsets.0.include.tools: must be a list of at least one string, not an empty list",
    ],
    [
      "name: devops\ninclude: { tools: [github.*] }",
      'toolsets.0.include.tools: has "github.*", which is not an id. An id is namespace.name',
    ],
    ["name: devops\ninclude: {}\nexclude: [delete_repo]", 'toolsets.0.exclude: has "delete_repo", which is not an id'],
    [
      "name: devops\ninclude: { where: { risk: [low] } }",
      "toolsets.0.include.where.risk: is not a condition. Did you mean risks?",
    ],
    [
      "name: devops\ninclude: { namespaces: [github] }\nview: frozen",
      "a.yaml:4:5 toolsets.0.view: is frozen, and include.namespaces would follow the catalog. List the ids under include.tools: toolarsenal toolsets show devops",
    ],
    [
      "name: devops\ninclude: {}\npolicy: { rate_limit: { requests_per_minute: 0 } }",
      "toolsets.0.policy.rate_limit.requests_per_minute: must be a whole number from 1 to 1000000, not 0",
    ],
    [
      "name: devops\ninclude: {}\npolicy: { allowed_role: [sre] }",
      'unknown key "allowed_role". Did you mean "allowed_roles"?',
    ],
  ])("are refused with the key and the fix: %j", async (lines, message) => {
    await expect(parseConfig(entry(lines), "a.yaml", {})).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(message) as string,
    });
  });

  it("have a name each", async () => {
    await expect(
      parseConfig(`${entry("name: devops\ninclude: {}")}\n  - { name: devops, include: {} }`, "a.yaml", {}),
    ).rejects.toThrow('a.yaml:4:7 toolsets.1.name: another toolset is already named "devops". Give each its own name.');
  });

  it("freeze with the ids they list", async () => {
    const config = await parseConfig(entry("name: two\ninclude: { tools: [a.b, a.c] }\nview: frozen"), "a.yaml", {});
    await using arsenal = new ToolArsenal(config);
    expect(arsenal.toolsets.get("two", localOperator())).toMatchObject({
      view: "frozen",
      filter: { ids: ["a.b", "a.c"] },
    });
  });

  it("need an audit log if their calls must be recorded", async () => {
    const config = await parseConfig(entry("name: devops\ninclude: {}\npolicy: { audit_log: true }"), "a.yaml", {});
    expect(() => new ToolArsenal(config)).toThrow('Toolset "devops": policy.auditLog is true');
  });
});
