import { dirname, resolve } from "node:path";
import type { Explained } from "../../../adapters/policies/rules/explain.ts";
import type { RulesPolicy } from "../../../adapters/policies/rules/rules.ts";
import { readPolicyFile } from "../../../config/parts/configured-policy.ts";
import { loadConfig } from "../../../config/load/load-config.ts";
import { ArsenalError } from "../../../errors/arsenal-error.ts";
import { harmless, showValue } from "../../../errors/show-value.ts";
import type { Policy } from "../../../guard/policy.port.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { configPath, MCP_CONFIG, openArsenal } from "../../arsenal/open-arsenal.ts";
import { type Outcome, type PolicyCase, readCases } from "../../policy/read-cases.ts";
import { readPrincipal } from "../../policy/read-principal.ts";
import { table } from "../../terminal/style.ts";

/** `toolarsenal policy` */
export const policy: Command = {
  name: "policy",
  summary: "Test a policy file with a table of cases, or explain one decision.",
  positionals: [],
  actions: {
    test: { summary: "Check a policy against a table of cases", positionals: ["FILE"] },
    explain: { summary: "Show which rule decides a call, and why", positionals: ["TOOL"] },
  },
  options: {
    policy: {
      type: "string",
      value: "FILE",
      description: "Policy file",
      fallback: "the one named in the table, else security.policy_file in the configuration",
    },
    principal: { type: "string", value: "ID|JSON", description: "For explain: the caller", fallback: "you" },
    tenant: { type: "string", value: "NAME", description: "For explain: tenant of the caller" },
    role: { type: "string", value: "NAME", repeatable: true, description: "For explain: role of the caller" },
    toolset: { type: "string", value: "NAME", description: "For explain: toolset of the call" },
    args: { type: "string", value: "JSON", description: "For explain: the arguments, as a JSON object" },
    ...MCP_CONFIG,
  },
  examples: [
    "policy test policy.cases.yaml",
    `policy explain billing.refund_user --principal ada --role support --args '{"amount":500}'`,
  ],
  async run(input, terminal) {
    const [action, subject = ""] = input.positionals;
    return action === "test"
      ? test(resolve(terminal.folder, subject), input, terminal)
      : explain(subject, input, terminal);
  },
};

async function test(file: string, input: Input, terminal: Terminal): Promise<number> {
  const { policy: named, cases } = await readCases(file);
  const own = named === undefined ? undefined : resolve(dirname(file), named);
  let now: number | undefined;
  const clock: Clock = { ...systemClock, now: () => now ?? systemClock.now() };
  const decider = await openPolicy(input, terminal, clock, own);
  const answers = cases.map((each) => {
    now = each.now;
    return answer(decider, each);
  });
  const failed = answers.filter(({ ok }) => !ok).length;
  if (input.json) terminal.out.write(answers.map((each) => `${JSON.stringify(each)}\n`).join(""));
  else {
    const rows = answers.map(({ ok, name, expected, actual, rule, reason }) => [
      ok ? "ok" : "WRONG",
      harmless(name),
      ok
        ? said(actual, rule)
        : `expected ${expected}, got ${said(actual, rule)}${reason === "" ? "" : `: ${harmless(reason)}`}`,
    ]);
    terminal.out.write(`${table(rows)}\n`);
    terminal.err.write(`${cases.length} ${cases.length === 1 ? "case" : "cases"}, ${failed} wrong\n`);
  }
  return failed === 0 ? 0 : 1;
}

interface Answer {
  readonly ok: boolean;
  readonly name: string;
  readonly expected: string;
  readonly actual: Outcome;
  readonly rule: string | undefined;
  readonly reason: string;
}

function answer(decider: RulesPolicy, { name, request, expect, rule }: PolicyCase): Answer {
  const decision = decider.decide(request);
  const actual = decider.sees(request.tool, request.principal, request) ? outcomeOf(decision.effect) : "hidden";
  const ok = actual === expect && (rule === undefined || rule === decision.rule);
  const reason = decision.effect === "allow" ? "" : decision.reason;
  return { ok, name, expected: said(expect, rule), actual, rule: decision.rule, reason };
}

function outcomeOf(effect: "allow" | "deny" | "confirm"): Outcome {
  return effect === "confirm" ? "require_approval" : effect;
}

function said(outcome: string, rule: string | undefined): string {
  return rule === undefined ? outcome : `${outcome} by ${rule}`;
}

async function explain(name: string, input: Input, terminal: Terminal): Promise<number> {
  const principal = whoCalls(input);
  const args = readArguments(input.options["args"]);
  const decider = await openPolicy(input, terminal, systemClock);
  const tool = await findTool(name, input, terminal);
  const { toolset } = input.options;
  const explained = decider.explain({
    tool,
    arguments: args,
    principal,
    ...(typeof toolset === "string" && { toolset }),
  });
  terminal.out.write(input.json ? `${JSON.stringify(explained, undefined, 2)}\n` : inWords(explained));
  return 0;
}

function inWords({ decision, visible, matched, unmatched }: Explained): string {
  const reason = decision.effect === "allow" ? "" : `: ${decision.reason}`;
  const hidden = visible ? "" : "The tool is hidden from the caller.\n";
  const rows = [
    ...matched.map(({ id, effect, decides, failed }) => [id, effect, failed ?? (decides ? "decides" : "matches")]),
    ...unmatched.map(({ id, effect, why }) => [id, effect, `does not match: ${why}`]),
  ];
  const rules = rows.length === 0 ? "" : `\n${table(rows)}\n`;
  return harmless(`${said(outcomeOf(decision.effect), decision.rule)}${reason}\n${hidden}${rules}`);
}

async function openPolicy(input: Input, terminal: Terminal, clock: Clock, own?: string): Promise<RulesPolicy> {
  const given = input.options["policy"];
  if (typeof given === "string") return readPolicyFile(resolve(terminal.folder, given), { clock });
  if (own !== undefined) return readPolicyFile(own, { clock });
  const { environment, folder } = terminal;
  const { config } = await loadConfig(configPath(input, terminal), environment, { folder });
  const { policyFile, policy: mode } = config.security;
  if (policyFile !== undefined) return readPolicyFile(policyFile, { clock, mode });
  throw wrong(
    "--policy",
    undefined,
    "No policy file is configured.",
    "Pass --policy FILE, or set security.policy_file.",
  );
}

/** The tool with this id or name, also if it is hidden. */
async function findTool(name: string, input: Input, terminal: Terminal): Promise<Tool> {
  const everything: Policy = { sees: () => true, decide: () => ({ effect: "allow" }) };
  await using arsenal = await openArsenal(input, terminal, { policy: everything });
  const tools = await arsenal.listTools();
  const named = tools.filter((tool) => tool.name === name);
  const found = tools.find(({ id }) => id === name) ?? (named.length === 1 ? named[0] : undefined);
  if (found !== undefined) return found;
  const fix = named.length > 1 ? `Use one of ${named.map(({ id }) => id).join(", ")}.` : "See: toolarsenal list";
  throw wrong("TOOL", name, named.length > 1 ? `Several tools are named ${name}.` : `No tool is named ${name}.`, fix);
}

function whoCalls(input: Input): Principal {
  const { principal, tenant } = input.options;
  const given =
    typeof principal === "string" && principal.startsWith("{") ? parse(principal, "--principal") : principal;
  const caller = given === undefined ? localOperator() : readPrincipal(given, "--principal");
  const roles = input.repeated["role"] ?? [];
  return {
    ...caller,
    ...(roles.length > 0 && { roles }),
    ...(typeof tenant === "string" && { tenant }),
  };
}

function readArguments(given: unknown): Readonly<Record<string, unknown>> {
  const value = typeof given === "string" ? parse(given, "--args") : {};
  if (isPlainObject(value)) return value;
  throw wrong(
    "--args",
    given,
    `--args must be a JSON object, not ${showValue(value)}.`,
    "For example: '{\"amount\": 5}'.",
  );
}

function parse(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(field, text, `${field} is not JSON: ${showValue(text)}.`, `Write it as '{"key": "value"}'.`);
  }
}

function wrong(field: string, value: unknown, problem: string, fix: string): ArsenalError {
  return new ArsenalError("INPUT_INVALID", `${problem} ${fix}`, { field, value, fix });
}
