import { describe, expect, it } from "vitest";
import { type ArsenalError, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { rulesPolicy } from "../rules.ts";

describe("a wrong document", () => {
  function problemOf(text: string): ArsenalError {
    try {
      rulesPolicy(text, { name: "policy.yaml" });
    } catch (error) {
      if (isArsenalError(error)) return error;
    }
    throw new Error("The document is taken.");
  }
  const ruleWith = (line: string): string => `version: 1\nrules:\n  - id: a\n    effect: deny\n    ${line}\n`;

  it.each([
    ["", "policy.yaml:1:1 policy: must be an object, not null. Start with"],
    ["version: 2", "policy.yaml:1:10 version: must be 1, not 2. Write `version: 1`."],
    ["version: 1\nmode: strickt", 'policy.yaml:2:7 mode: must be one of standard, strict, not "strickt". Did you'],
    ["version: 1\nrule: []", 'policy.yaml:2:1 rule: unknown key "rule". Did you mean "rules"?'],
    ["version: 1\nrules: 5", "policy.yaml:2:8 rules: must be a list of rules, not 5."],
    ["version: 1\nrules: [5]", "policy.yaml:2:9 rules.0: must be a rule, not 5."],
    ["version: 1\npresets: [paranoid]", 'policy.yaml:2:11 presets.0: unknown preset "paranoid".'],
    ["version: 1\npresets: [{ maxTools: 0 }]", "policy.yaml:2:23 presets.0.maxTools: must be a whole number"],
    ["version: 1\nrules: [{ effect: allow }]", "policy.yaml:2:9 rules.0.id: must name the rule, not undefined."],
    ["version: 1\nrules: [{ id: a, effect: block }]", "rules.0.effect: must be one of allow, deny, require_approval"],
    ["version: 1\nrules:\n  - { id: a, effect: deny }\n  - { id: a, effect: deny }", ":4:11 rules.1.id: another rule"],
    [ruleWith("tols: x"), 'policy.yaml:5:11 rules.0.tols: unknown key "tols". Did you mean "tools"?'],
    [ruleWith("tools: []"), "policy.yaml:5:5 rules.0.tools: is an empty list, which matches nothing."],
    [ruleWith("tools: [a, 5]"), "policy.yaml:5:16 rules.0.tools.1: must be a non-empty string, not 5."],
    [ruleWith("tools: *_x"), "policy.yaml:5:12 yaml: *_x is an alias to a missing anchor."],
    [ruleWith("risk: hihg"), 'policy.yaml:5:11 rules.0.risk: must be one of low, medium, high, critical, not "hihg".'],
    [ruleWith("hide: maybe"), 'rules.0.hide: must be true or false, not "maybe".'],
    [ruleWith("obligations: { rate: 1/minute }"), "rules.0.obligations: are for calls that run"],
    ["a: b: c", "policy.yaml:1:4 yaml: "],
  ])("is refused with line, field, value and fix: %j", (text, said) => {
    const { code, message, details } = problemOf(text);
    expect(code).toBe("CONFIG_INVALID");
    expect(message).toContain(said);
    expect(details.fix).not.toBe("");
  });

  it.each([
    ["args.amount +", "does not compile at column 13: unexpected +"],
    ["arg.amount > 1", 'does not compile at column 1: there is no "arg"; there are tool, args, principal, now'],
    ["args.x == 1 && now2 == 2", 'does not compile at column 16: there is no "now2"'],
    ["lower(args.x) == 'a'", 'does not compile at column 1: unknown function "lower"'],
    ["args.x.matches('(')", "missing closing )"],
    ["args.x.matches(args.y)", "it must be a string, not computed"],
    ["args.x.all(a, args.x.all(b, a == b))", "column 21: a loop (all, exists, map, filter) is nested in another"],
    ["google.protobuf.Duration{} == args.x", "unknown type"],
    [`${"(".repeat(25)}true${")".repeat(25)}`, "nests brackets deeper than 24"],
    [`args.x == '${"x".repeat(2_000)}'`, "the limit is 2000"],
  ])("is refused with rule and column where the condition is %s", (when, said) => {
    const { message } = problemOf(ruleWith(`when: ${JSON.stringify(when)}`));
    expect(message).toMatch(/^policy\.yaml:5:11 rules\.0\.when: rule "a" does not compile/);
    expect(message).toContain(said);
  });

  it.each([
    ["rate: often", "rate: must be a number of calls per second, minute, hour or day"],
    ["rate: 0/minute", "rate: must be a number of calls per second, minute, hour or day"],
    ["redact: a..b", "is a path with an empty part"],
    ['redact: "/(/"', "is not a valid pattern"],
    ['redact: "/x*/"', "matches the empty text"],
    ["egress: https://example.com/", "egress: must be a domain"],
    ["max_result_bytes: -1", "max_result_bytes: must be a whole number"],
    ["maxBytes: 1", "unknown key"],
  ])("is refused where obligations have %s", (obligation, said) => {
    const text = `version: 1\nrules:\n  - id: a\n    effect: allow\n    obligations:\n      ${obligation}\n`;
    expect(problemOf(text).message).toContain(said);
  });

  it("is refused where a rule would hide by looking at a call", () => {
    expect(problemOf(ruleWith("hide: true\n    when: args.x == 1")).message).toContain("rules.0.hide");
  });

  it("is told all of its problems at once", () => {
    const { details, message } = problemOf("version: 1\nmode: x\nrules: [{ id: a, effect: y }]");
    expect(details.issues?.map(({ field }) => field)).toEqual(["mode", "rules.0.effect"]);
    expect(message).toContain("(and 1 more)");
  });
});
