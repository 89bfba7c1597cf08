import { count, messageOf } from "../../errors/show-value.ts";
import { missingCapabilities, missingScopes, type Principal } from "../../guard/principal.ts";
import { CAPABILITIES } from "../../tool/tool.ts";
import type { Input, Terminal } from "../command.ts";
import { configFiles, openArsenal } from "./open-arsenal.ts";

/** How long servers may take to connect before their tools are left out of the count, in milliseconds. The key already exists. */
const COUNT_WITHIN_MS = 10_000;

/** The tools that a caller may call, and the requirements of all other tools. */
interface Reach {
  readonly callable: number;
  readonly total: number;
  /** The number of tools that need each missing capability or scope. */
  readonly capabilities: ReadonlyMap<string, number>;
  readonly scopes: ReadonlyMap<string, number>;
  /** The number of tools that the policy refuses. */
  readonly byPolicy: number;
}

/** Describes the rights of a key's holder, and the command that adds more. Connects the configured sources to count their tools. */
export async function describeRights(
  principal: Principal,
  { operatorRole, ...place }: { readonly operatorRole: string; readonly input: Input; readonly terminal: Terminal },
): Promise<string> {
  const { id, capabilities, roles } = principal;
  const { input, terminal } = place;
  const lines = [rightsOf(principal, operatorRole)];
  const reach = await reachOf(principal, input, terminal).catch((error: unknown) => messageOf(error));
  if (typeof reach === "string") lines.push(`Its tools were not counted: ${reach}`);
  else if (reach !== undefined) lines.push(...inWords(reach));
  const grant = (rights: string): string => `toolarsenal keys grant ${id} ${rights}${samePlace(input)}`;
  if (capabilities.length < CAPABILITIES.length) {
    const needed = typeof reach === "object" ? [...reach.capabilities.keys()] : [];
    const listed = needed.length === 0 ? "" : needed.map((each) => `--capability ${each}`).join(" ");
    lines.push(`To let it call more: ${grant(listed === "" ? "--capability NAME" : listed)}`);
    lines.push(`To give it every capability: ${grant("--capability all")}`);
  }
  const scopes = typeof reach === "object" ? [...reach.scopes.keys()] : [];
  if (scopes.length > 0)
    lines.push(`To give it the scopes: ${grant(scopes.map((each) => `--scope ${each}`).join(" "))}`);
  if (roles.includes(operatorRole) && !roles.includes("approver"))
    lines.push(`To let it approve calls: ${grant("--role approver")}`);
  return lines.join("\n");
}

function rightsOf({ id, tenant, roles, capabilities, scopes }: Principal, operatorRole: string): string {
  const isOperator = roles.includes(operatorRole);
  const isApprover = roles.includes("approver");
  const granted = [
    capabilities.length === 0
      ? "no capabilities"
      : capabilities.length === CAPABILITIES.length
        ? "every capability"
        : named("capability", "capabilities", capabilities),
    scopes.length === 0 ? "no scopes" : scopes.includes("*") ? "every scope" : named("scope", "scopes", scopes),
  ].join(" and ");
  const alone = capabilities.length === 0 && scopes.length === 0 ? ", so it may call only tools that need none" : "";
  const whose = tenant === undefined ? "" : ` of the tenant ${tenant}`;
  const duties = [
    ...(isOperator ? [`operates the gateway${whose}`] : []),
    ...(isApprover ? [`approves the calls of others${whose}, never its own`] : isOperator ? ["approves no calls"] : []),
  ];
  return [`${id} has ${granted}${alone}.`, ...(duties.length === 0 ? [] : [`It ${duties.join(" and ")}.`])].join(" ");
}

function named(one: string, many: string, names: readonly string[]): string {
  return `the ${names.length === 1 ? one : many} ${names.join(", ")}`;
}

function inWords({ callable, total, ...others }: Reach): readonly string[] {
  if (total === 0) return [];
  const counted = (needs: ReadonlyMap<string, number>): string =>
    Array.from(needs, ([name, tools]) => `${name} (${count(tools, "tool")})`).join(", ");
  const { capabilities, scopes, byPolicy } = others;
  const reasons = [
    ...(capabilities.size === 0 ? [] : [`it lacks the capabilities ${counted(capabilities)}`]),
    ...(scopes.size === 0 ? [] : [`it lacks the scopes ${counted(scopes)}`]),
    ...(byPolicy === 0 ? [] : [`the policy refuses ${count(byPolicy, "tool")}`]),
  ];
  const why = reasons.length === 0 ? "" : ` Of the others, ${reasons.join("; ")}.`;
  return [`It may call ${callable} of the ${count(total, "tool")} registered now.${why}`];
}

/** Returns undefined without a configuration, because there are no tools to count. */
async function reachOf(principal: Principal, input: Input, terminal: Terminal): Promise<Reach | undefined> {
  if (configFiles(input, terminal).paths.length === 0) return undefined;
  const signal = AbortSignal.any([terminal.signal, AbortSignal.timeout(COUNT_WITHIN_MS)]);
  await using arsenal = await openArsenal({ ...input, json: true }, { ...terminal, signal }, { told: "all" });
  const all = await arsenal.listTools({ includeRefused: true });
  const callable = new Set((await arsenal.listTools({ principal })).map(({ id }) => id));
  const needs = { capabilities: new Map<string, number>(), scopes: new Map<string, number>() };
  let byPolicy = 0;
  const add = (counts: Map<string, number>, name: string): unknown => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const tool of all.filter(({ id }) => !callable.has(id))) {
    const capabilities = missingCapabilities(tool, principal);
    const scopes = missingScopes(tool, principal);
    for (const each of capabilities) add(needs.capabilities, each);
    for (const each of scopes) add(needs.scopes, each);
    if (capabilities.length + scopes.length === 0) byPolicy++;
  }
  return { callable: callable.size, total: all.length, ...needs, byPolicy };
}

/** Returns the options that make a later command use the same key file. */
function samePlace({ options, config }: Input): string {
  const file = options["file"] === undefined ? "" : ` --file ${options["file"]}`;
  return `${file}${config === undefined ? "" : ` --config ${config}`}`;
}
