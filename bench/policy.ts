/** The cost of a decision with 2 and 200 rules, as a ratio to no policy: the guard with a policy that allows everything. */
import { rulesPolicy } from "../src/adapters/policies/rules/rules.ts";
import type { PolicyDocument, RuleDocument } from "../src/adapters/policies/rules/document/document.ts";
import { table } from "../src/cli/terminal/style.ts";
import type { Policy, PolicyRequest } from "../src/guard/policy.port.ts";
import { localOperator } from "../src/guard/principal.ts";
import { defineTool } from "../src/tool/define-tool.ts";

const BATCH = 200;
const BATCHES = 400;
const WARM_UP = 40;

const tools = Array.from({ length: 100 }, (_, index) =>
  defineTool({
    name: `find_${index % 10}`,
    namespace: `team${Math.floor(index / 10)}`,
    description: "Finds what is asked for in the records of a team.",
    parameters: { type: "object", properties: {} },
    tags: [index % 2 === 0 ? "even" : "odd"],
  }),
);
const principal = localOperator({ id: "ada", tenant: "acme", roles: ["support"] });
const requests: readonly PolicyRequest[] = tools.map((tool, index) => {
  return { tool, principal, arguments: { amount: index, order: { id: "1042" }, note: "as soon as you can" } };
});

/** Rules of each common kind: by id, namespace, role, tag, tenant, with a condition and without. */
function document(count: number, conditions: boolean): PolicyDocument {
  const written = Array.from({ length: count }, (_, index): RuleDocument => {
    const id = `rule-${index}`;
    const when = conditions ? { when: `args.amount > ${1_000 + index}` } : {};
    switch (index % 5) {
      case 0:
        return { id, effect: "allow", namespaces: [`team${index % 10}`], obligations: { rate: "100/minute" } };
      case 1:
        return { id, effect: "deny", tools: [`team${index % 10}.find_${index % 7}`], ...when };
      case 2:
        return { id, effect: "require_approval", tools: [`other${index}.*`], roles: ["finance"] };
      case 3:
        return { id, effect: "deny", tenants: [`tenant-${index}`], tags: ["odd"] };
      default:
        return { id, effect: "deny", tools: ["*_secret"], roles: [`role-${index}`], ...when };
    }
  });
  return { version: 1, rules: written };
}

const cases: readonly (readonly [name: string, policy: Policy])[] = [
  ["no policy", { sees: () => true, decide: () => ({ effect: "allow" }) }],
  ["2 rules", rulesPolicy(document(2, false))],
  ["200 rules", rulesPolicy(document(200, false))],
  ["2 rules, CEL", rulesPolicy(document(2, true))],
  ["200 rules, CEL", rulesPolicy(document(200, true))],
];

/** Microseconds per decision (`sees` and `decide`) in each batch. In turns, so that load affects all alike. */
const times = new Map<string, number[]>(cases.map(([name]) => [name, []]));
for (let batch = 0; batch < BATCHES + WARM_UP; batch++) {
  for (const [name, policy] of cases) {
    const began = performance.now();
    for (let index = 0; index < BATCH; index++) {
      const request = requests[(index * 7 + batch) % requests.length];
      if (request !== undefined && policy.sees(request.tool, request.principal)) policy.decide(request);
    }
    if (batch >= WARM_UP) times.get(name)?.push(((performance.now() - began) * 1_000) / BATCH);
  }
}

/** The first decision on a tool compares it with the rules; later ones use the cache. */
function firstDecision(policy: Policy): number {
  const fresh = Array.from({ length: 20 }, () => requests.map((each) => ({ ...each, tool: { ...each.tool } }))).flat();
  const began = performance.now();
  for (const request of fresh) policy.decide(request);
  return ((performance.now() - began) * 1_000) / fresh.length;
}

const at = (name: string, share: number): number => {
  const sorted = (times.get(name) ?? []).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
};
const base = at("no policy", 0.5);
const two = at("2 rules", 0.5);
const rows = cases.map(([name, policy]) => [
  name,
  `${at(name, 0.5).toFixed(2)} µs`,
  `${at(name, 0.95).toFixed(2)} µs`,
  `${(at(name, 0.5) / base).toFixed(0)} x`,
  `${(at(name, 0.5) / two).toFixed(1)} x`,
  `${firstDecision(policy).toFixed(1)} µs`,
]);
console.log(table([["", "p50", "p95", "to no policy", "to 2 rules", "first of a tool"], ...rows]));
