import { CAPABILITIES, type Capability } from "../../../tool/tool.ts";
import {
  type Budget,
  type Grant,
  type Group,
  type Quota,
  QUOTA_PERIODS,
  QUOTA_UNITS,
  type Tenant,
  type TenantSettings,
} from "../../../teams/tenant.ts";
import type { Input } from "../../command.ts";
import { wrongInput } from "../../input.ts";

const NONE = "none";

/** Returns the settings from the options. Other settings stay unchanged. */
export async function readTenantSettings(
  { options, repeated }: Input,
  before: Pick<Tenant, "quotas" | "budgets"> | undefined,
): Promise<TenantSettings> {
  const { name, webhook } = options;
  const { quota = [], soft = [], budget = [], toolset = [], group = [] } = repeated;
  return {
    ...(name !== undefined && { name }),
    ...(webhook !== undefined && { webhook: webhook === NONE ? "" : webhook }),
    ...(quota.length + soft.length > 0 && { quotas: quotasOf(before?.quotas ?? [], quota, soft) }),
    ...(budget.length > 0 && { budgets: budgetsOf(before?.budgets ?? [], budget) }),
    ...(toolset.length > 0 && { toolsets: toolset }),
    ...(group.length > 0 && { groups: group.filter((each) => each !== NONE).map(groupOf) }),
  };
}

function quotasOf(before: readonly Quota[], hard: readonly string[], soft: readonly string[]): readonly Quota[] {
  const isCleared = hard.includes(NONE) || soft.includes(NONE);
  const quotas = new Map((isCleared ? [] : before).map((quota) => [`${quota.unit}/${quota.period}`, quota]));
  for (const [kind, given] of Object.entries({ hard, soft }))
    for (const text of given) {
      if (text === NONE) continue;
      const { unit, period, amount } = readQuota(kind === "hard" ? "--quota" : "--soft", text);
      const key = `${unit}/${period}`;
      quotas.set(key, { ...(quotas.get(key) ?? { unit, period }), [kind]: amount });
    }
  return [...quotas.values()];
}

function readQuota(option: string, text: string) {
  const [, unit, period, amount] = /^([a-z]+)\/([a-z]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const [known, named] = [QUOTA_UNITS.find((each) => each === unit), QUOTA_PERIODS.find((each) => each === period)];
  if (known !== undefined && named !== undefined && Number(amount) > 0)
    return { unit: known, period: named, amount: Number(amount) };
  const fix = `Write it as calls/day=1000, with ${QUOTA_UNITS.join(", ")} and ${QUOTA_PERIODS.join(" or ")}.`;
  throw wrongInput(option, text, `${option} cannot be "${text}".`, fix);
}

function budgetsOf(before: readonly Budget[], given: readonly string[]): readonly Budget[] {
  const budgets = new Map((given.includes(NONE) ? [] : before).map((budget) => [budget.period, budget]));
  for (const text of given) {
    if (text === NONE) continue;
    const [, period, amount] = /^([a-z]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
    const named = QUOTA_PERIODS.find((each) => each === period);
    if (named === undefined || !(Number(amount) > 0))
      throw wrongInput("--budget", text, `--budget cannot be "${text}".`, "Write it as month=100 or day=5.");
    budgets.set(named, { ...budgets.get(named), period: named, amount: Number(amount) });
  }
  return [...budgets.values()];
}

function groupOf(text: string): Group {
  const at = text.lastIndexOf("=");
  const roles = at === -1 ? "" : text.slice(at + 1);
  const group = at === -1 ? text : text.slice(0, at);
  if (group === "")
    throw wrongInput("--group", text, `--group cannot be "${text}".`, "Write it as acme-admins=operator.");
  return { group, roles: roles.split(",").filter((role) => role !== "") };
}

export function readGrant({ repeated }: Input): Grant {
  const { role: roles = [], capability = [], scope: scopes = [] } = repeated;
  const known = CAPABILITIES as readonly string[];
  const other = capability.find((each) => each !== "all" && !known.includes(each));
  if (other !== undefined) {
    const fix = `Use all, or one of ${known.join(", ")}.`;
    throw wrongInput("--capability", other, `There is no capability "${other}".`, fix);
  }
  return {
    roles,
    scopes,
    capabilities: capability.includes("all") ? CAPABILITIES : (capability as readonly Capability[]),
  };
}
