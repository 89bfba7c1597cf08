import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ran, runInMemory } from "../../../../test/e2e/terminal.ts";

const POLICY = `version: 1
rules:
  - { id: refunds, effect: allow, tools: billing.*, roles: [support, finance] }
  - { id: large, effect: deny, tools: billing.process_refund, when: args.amount > 100, reason: Ask finance. }
  - { id: payroll, effect: deny, namespaces: payroll }
  - { id: night, effect: require_approval, tools: billing.*, when: now.getHours() < 6 }
`;

const CASES = `policy: ./policy.yaml
cases:
  - { name: a small one, tool: billing.process_refund, principal: { id: ada, roles: [support] }, args: { amount: 5 }, now: 2026-05-04T12:00:00Z, expect: allow, rule: refunds }
  - { name: a large one, tool: billing.process_refund, principal: { id: ada, roles: [support] }, args: { amount: 500 }, now: 2026-05-04T12:00:00Z, expect: deny, rule: large }
  - { name: at night, tool: { id: billing.pay, risk: high }, args: { amount: 5 }, now: 2026-05-04T03:00:00Z, expect: require_approval }
  - { tool: payroll.read, principal: ada, expect: hidden }
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "arsenal-policy-"));
  await writeFile(join(folder, "policy.yaml"), POLICY);
  await writeFile(join(folder, "cases.yaml"), CASES);
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...argv: readonly string[]): Promise<Ran> => runInMemory(["policy", ...argv], { folder });

describe("policy test", () => {
  it("has one line a case and exits with 0 where all are as expected", async () => {
    expect(await run("test", "cases.yaml")).toEqual({
      code: 0,
      out: [
        "ok  a small one      allow by refunds",
        "ok  a large one      deny by large",
        "ok  at night         require_approval by night",
        "ok  4: payroll.read  hidden by payroll\n",
      ].join("\n"),
      err: "4 cases, 0 wrong\n",
    });
  });

  it("takes the hints of a server's tool for unconfirmed, unless the case says otherwise", async () => {
    await writeFile(
      join(folder, "reads.yaml"),
      "version: 1\nmode: strict\nrules: [{ id: reads, effect: allow, when: tool.annotations.read_only }]\n",
    );
    const tool = (annotations: string, source: string) =>
      `{ id: a.find, source: ${source}, annotations: { ${annotations} } }`;
    await writeFile(
      join(folder, "reads.cases.yaml"),
      `cases:
  - { tool: ${tool("readOnly: true", "mcp")}, expect: deny }
  - { tool: ${tool("readOnly: true, confirmed: true", "mcp")}, expect: allow }
  - { tool: ${tool("readOnly: true", "function")}, expect: allow }
`,
    );
    expect(await run("test", "reads.cases.yaml", "--policy", "reads.yaml")).toMatchObject({
      code: 0,
      err: "3 cases, 0 wrong\n",
    });
  });

  it("says what came in place of what was expected, and exits with 1", async () => {
    const wrong = "cases:\n  - { name: all, tool: billing.process_refund, args: { amount: 500 }, expect: allow }\n";
    await writeFile(join(folder, "wrong.yaml"), wrong);
    expect(await run("test", "wrong.yaml", "--policy", "policy.yaml")).toEqual({
      code: 1,
      out: "WRONG  all  expected allow, got deny by large: Ask finance.\n",
      err: "1 case, 1 wrong\n",
    });
    await writeFile(join(folder, "rule.yaml"), CASES.replace("rule: refunds", "rule: others"));
    const { code, out } = await run("test", "rule.yaml", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out.split("\n")[0] ?? "")).toEqual({
      ok: false,
      name: "a small one",
      expected: "allow by others",
      actual: "allow",
      rule: "refunds",
      reason: "",
    });
  });

  it.each([
    ["cases: []", "has no cases"],
    ["cases: [{ tool: find, expect: allow }]", "Write an id such as"],
    ["cases: [{ tool: a.find, expect: perhaps }]", 'cases.yaml:1:9 expect cannot be "perhaps"'],
    ["cases: [{ tool: a.find, expects: allow }]", 'Did you mean "expect"?'],
    ["cases: [{ tool: a.find, expect: allow, principal: { id: a, roles: x } }]", "principal.roles"],
    ["cases: [{ tool: { id: a.find, risk: huge }, expect: allow }]", "huge"],
    ["cases: [{ tool: a.find, expect: allow, now: soon }]", "now is"],
  ])("refuses the table %s", async (text, said) => {
    await writeFile(join(folder, "bad-cases.yaml"), text);
    const { code, err } = await run("test", "bad-cases.yaml", "--policy", "policy.yaml");
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  });

  it("needs a policy, and one that is right", async () => {
    const bare = "cases: [{ tool: a.find, expect: allow }]";
    await writeFile(join(folder, "bare.yaml"), bare);
    expect(await run("test", "bare.yaml")).toMatchObject({
      code: 2,
      err: expect.stringContaining("security.policy_file"),
    });
    await writeFile(join(folder, "broken.yaml"), "version: 1\nmode: lax\n");
    expect(await run("test", "bare.yaml", "--policy", "broken.yaml")).toMatchObject({
      code: 2,
      err: expect.stringContaining("broken.yaml:2:7 mode"),
    });
  });
});

describe("policy explain", () => {
  const refund = ["explain", "billing.process_refund", "--policy", "policy.yaml"];

  it("names the rule that decides and says of every other why it does not", async () => {
    await writeFile(join(folder, "day.yaml"), POLICY.split("\n").slice(0, 5).join("\n"));
    const asked = ["--policy", "day.yaml", "--principal", "ada", "--role", "intern", "--args", '{"amount":500}'];
    expect(await run("explain", "billing.process_refund", ...asked)).toMatchObject({
      code: 0,
      out: [
        "deny by large: Ask finance.",
        "",
        "large    deny   decides",
        "refunds  allow  does not match: roles: none of support, finance",
        "payroll  deny   does not match: namespaces: none of payroll\n",
      ].join("\n"),
    });
  });

  it("is JSON where asked for", async () => {
    const given = '{"id":"ada","roles":["finance"],"tenant":"acme"}';
    const { out } = await run(...refund, "--principal", given, "--args", '{"amount":500}', "--json");
    expect(JSON.parse(out)).toMatchObject({ decision: { effect: "deny", rule: "large" }, visible: true });
  });

  it("finds a tool that nobody may see, by name too, and says so", async () => {
    await writeFile(
      join(folder, "hides.yaml"),
      "version: 1\nrules: [{ id: hidden, effect: deny, tools: drop_table }]\n",
    );
    const { code, out } = await run("explain", "drop_table", "--policy", "hides.yaml");
    expect([code, out]).toEqual([0, expect.stringContaining("The tool is hidden from the caller.\n")]);
  });

  it.each([
    [["explain", "nothing", "--policy", "policy.yaml"], "No tool is named nothing."],
    [[...refund, "--args", "5"], "--args must be a JSON object, not 5."],
    [[...refund, "--principal", "{"], "not JSON"],
    [["judge", "x"], 'There is no action "policy judge". Use test or explain.'],
  ])("refuses %j", async (argv, said) => {
    const { code, err } = await run(...argv);
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  });
});
