import { describe, expect, it } from "vitest";
import type { Obligations, PolicyDecision } from "../../../guard/policy.port.ts";
import { localOperator } from "../../../guard/principal.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import type { RuleDocument } from "./document/document.ts";
import { rulesPolicy } from "./rules.ts";

const find = defineTool({
  name: "find_customer",
  namespace: "crm",
  description: "Finds a customer by name.",
  parameters: { type: "object", properties: {} },
});
const ada = localOperator({ id: "ada", tenant: "acme" });

function decide(...written: readonly RuleDocument[]): PolicyDecision {
  return rulesPolicy({ version: 1, rules: written }).decide({ tool: find, arguments: {}, principal: ada });
}

describe("obligations", () => {
  const owing = (...written: readonly RuleDocument["obligations"][]): Obligations | undefined => {
    const allow = written.flatMap((obligations, index): readonly RuleDocument[] =>
      obligations === undefined ? [] : [{ id: `rule-${index}`, effect: "allow", obligations }],
    );
    const decision = decide(...allow);
    return decision.effect === "deny" ? undefined : decision.obligations;
  };

  it("are what a permission carries", () => {
    expect(owing({ rate: "10/minute", egress: "*.Example.com", max_result_bytes: 100 })).toEqual({
      rates: [{ key: '["rule-0","acme","ada"]', calls: 10, windowMs: 60_000, rule: "rule-0" }],
      egress: ["*.example.com"],
      maxResultBytes: 100,
    });
  });

  it("hold together where several rules match: every rate, every redaction, common domains, the least size", () => {
    const all = owing(
      { rate: "10/minute", egress: ["*.example.com", "b.org"], max_result_bytes: 100, redact: "a" },
      { rate: "100/day", egress: ["api.example.com", "c.org"], max_result_bytes: 50, redact: "b" },
    );
    expect(all?.rates?.map(({ calls, windowMs }) => [calls, windowMs])).toEqual([
      [10, 60_000],
      [100, 86_400_000],
    ]);
    expect(all?.redact?.map(({ text }) => text)).toEqual(["a", "b"]);
    expect([all?.egress, all?.maxResultBytes]).toEqual([["api.example.com"], 50]);
  });

  it("reach nothing where no domain is named, or none is common", () => {
    expect(owing({ egress: [] })?.egress).toEqual([]);
    expect(owing({ egress: "a.org" }, { egress: "b.org" })?.egress).toEqual([]);
  });

  it("also hold for a call that waits for a person", () => {
    const rule: RuleDocument = { id: "ask", effect: "require_approval", obligations: { max_result_bytes: 5 } };
    expect(decide(rule)).toMatchObject({ effect: "confirm", obligations: { maxResultBytes: 5 } });
  });

  it.each([
    ["customer.email", { customer: { email: "[redacted]", ssn: "1234-5678" }, items: [{ ssn: "9" }] }],
    ["items.*.ssn", { customer: { email: "a@b.c", ssn: "1234-5678" }, items: [{ ssn: "[redacted]" }] }],
    ["**.ssn", { customer: { email: "a@b.c", ssn: "[redacted]" }, items: [{ ssn: "[redacted]" }] }],
    ["/[0-9]{4}/", { customer: { email: "a@b.c", ssn: "[redacted]-[redacted]" }, items: [{ ssn: "9" }] }],
  ])("redact %s and nothing else", (text, expected) => {
    const result = { customer: { email: "a@b.c", ssn: "1234-5678" }, items: [{ ssn: "9" }] };
    const redaction = owing({ redact: [text] })?.redact?.[0];
    expect(redaction?.apply(result)).toEqual(expected);
    expect(result.customer.ssn).toBe("1234-5678");
  });
});
