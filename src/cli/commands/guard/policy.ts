import { present } from "../../../base/present.ts";
import { dirname, resolve } from "node:path";
import type { Explained, RulesPolicy } from "../../../adapters/policies/rules/rules.ts";
import { readPolicyFile } from "../../../administration/file-policies.ts";
import { judgeCases, outcomeOf, readCases, readPrincipal, sayOutcome } from "../../../administration/policy-cases.ts";
import { count, harmless, showValue } from "../../../errors/show-value.ts";
import type { Policy } from "../../../guard/policy.port.ts";
import { localOperator, type Principal } from "../../../guard/principal.ts";
import { type Clock, systemClock } from "../../../observe/clock.ts";
import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Tool } from "../../../tool/tool.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { MCP_CONFIG, openArsenal, readSettings } from "../../arsenal/open-arsenal.ts";
import { parseJson, wrongInput } from "../../input.ts";
import { table } from "../../terminal/style.ts";

export const command: Command = {
  actions: {
    test: { summary: "Check a policy against a table of cases", positionals: ["FILE"] },
    explain: { summary: "Show which rule decides a call, and why", positionals: ["TOOL"] },
  },
  options: {
    policy: {
      value: "FILE",
      description: "Policy file",
      fallback: "the file named in the table, otherwise security.policy_file",
    },
    principal: { value: "ID|JSON", description: "For explain: the caller", fallback: "you" },
    tenant: { value: "NAME", description: "For explain: tenant of the caller" },
    role: { value: "NAME", repeatable: true, description: "For explain: role of the caller" },
    toolset: { value: "NAME", description: "For explain: toolset of the call" },
    args: { value: "JSON", description: "For explain: the arguments, as a JSON object" },
    ...MCP_CONFIG,
  },
  examples: [
    "policy test policy.cases.yaml",
    `policy explain billing.process_refund --principal ada --role support --args '{"amount":500}'`,
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
  const answers = await judgeCases(cases, (clock) => openPolicy(input, terminal, clock, own));
  const failed = answers.filter(({ ok }) => !ok).length;
  if (input.json) terminal.out.write(answers.map((each) => `${JSON.stringify(each)}\n`).join(""));
  else {
    const rows = answers.map(({ ok, name, expected, actual, rule, reason }) => [
      ok ? "ok" : "WRONG",
      harmless(name),
      ok
        ? sayOutcome(actual, rule)
        : `expected ${expected}, got ${sayOutcome(actual, rule)}${reason === "" ? "" : `: ${harmless(reason)}`}`,
    ]);
    terminal.out.write(`${table(rows)}\n`);
    terminal.err.write(`${count(cases.length, "case")}, ${failed} wrong\n`);
  }
  return failed === 0 ? 0 : 1;
}

async function explain(name: string, input: Input, terminal: Terminal): Promise<void> {
  const principal = whoCalls(input);
  const args = parseOption(input, "args") ?? {};
  const fix = "For example: '{\"amount\": 5}'.";
  if (!isPlainObject(args))
    throw wrongInput("--args", args, `--args must be a JSON object, not ${showValue(args)}.`, fix);
  const decider = await openPolicy(input, terminal, systemClock);
  const tool = await findTool(name, input, terminal);
  const { toolset } = input.options;
  const explained = decider.explain({ tool, arguments: args, principal, ...(toolset !== undefined && { toolset }) });
  terminal.out.write(input.json ? `${JSON.stringify(explained, undefined, 2)}\n` : inWords(explained));
}

function inWords({ decision, visible, matched, unmatched }: Explained): string {
  const reason = decision.effect === "allow" ? "" : `: ${decision.reason}`;
  const hidden = visible ? "" : "The tool is hidden from the caller.\n";
  const rows = [
    ...matched.map(({ id, effect, decides, failed }) => [id, effect, failed ?? (decides ? "decides" : "matches")]),
    ...unmatched.map(({ id, effect, why }) => [id, effect, `does not match: ${why}`]),
  ];
  const rules = rows.length === 0 ? "" : `\n${table(rows)}\n`;
  return harmless(`${sayOutcome(outcomeOf(decision.effect), decision.rule)}${reason}\n${hidden}${rules}`);
}

async function openPolicy(input: Input, terminal: Terminal, clock: Clock, own?: string): Promise<RulesPolicy> {
  const { policy: given } = input.options;
  const path = given === undefined ? own : resolve(terminal.folder, given);
  if (path !== undefined) return readPolicyFile(path, { clock });
  const { policyFile, policy: mode } = (await readSettings(input, terminal)).security;
  if (policyFile !== undefined) return readPolicyFile(policyFile, { clock, mode });
  const fix = "Pass --policy FILE, or set security.policy_file.";
  throw wrongInput("--policy", undefined, "No policy file is configured.", fix);
}

/** Finds the tool with this id or name, including hidden tools. */
async function findTool(name: string, input: Input, terminal: Terminal): Promise<Tool> {
  const everything: Policy = { sees: () => true, decide: () => ({ effect: "allow" }) };
  await using arsenal = await openArsenal(input, terminal, { policy: everything });
  const tools = await arsenal.listTools();
  const named = tools.filter((tool) => tool.name === name);
  const found = tools.find(({ id }) => id === name) ?? (named.length === 1 ? named[0] : undefined);
  if (found !== undefined) return found;
  if (named.length === 0) throw wrongInput("TOOL", name, `No tool is named ${name}.`, "See: toolarsenal list");
  const fix = `Use one of ${named.map(({ id }) => id).join(", ")}.`;
  throw wrongInput("TOOL", name, `Several tools are named ${name}.`, fix);
}

function whoCalls(input: Input): Principal {
  const { principal, tenant } = input.options;
  const given = principal?.startsWith("{") ? parseOption(input, "principal") : principal;
  const caller = given === undefined ? localOperator() : readPrincipal(given, "--principal");
  const { role: roles } = input.repeated;
  return { ...caller, ...present({ roles, tenant }) };
}

function parseOption({ options }: Input, name: string): unknown {
  const text = options[name];
  if (text === undefined) return undefined;
  return parseJson(text, () => {
    const fix = `Write it as '{"key": "value"}'.`;
    throw wrongInput(`--${name}`, text, `--${name} is not JSON: ${showValue(text)}.`, fix);
  });
}
