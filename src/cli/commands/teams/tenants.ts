import { localOperator } from "../../../guard/principal.ts";
import type { TeamAdministration } from "../../../teams/team-administration.ts";
import { type Member, type Tenant, TENANT_ID } from "../../../teams/tenant.ts";
import { usageCsv, USAGE_PARTS, type UsagePart } from "../../../teams/usage-csv.ts";
import type { Command, Input, Terminal } from "../../command.ts";
import { type RecordedChange, withKeptState } from "../../arsenal/kept-state.ts";
import { localTeams } from "../../arsenal/local-teams.ts";
import { wrongInput } from "../../input.ts";
import { clip, printList } from "../../terminal/style.ts";
import { readGrant, readTenantSettings } from "./tenant-options.ts";

const BY = localOperator();

export const command: Command = {
  actions: {
    list: { summary: "List the tenants" },
    show: { summary: "Show a tenant, and how much of its quotas is used", positionals: ["TENANT"] },
    create: { summary: "Create a tenant", positionals: ["TENANT"] },
    set: { summary: "Change a tenant", positionals: ["TENANT"] },
    suspend: { summary: "Refuse the callers of a tenant, and end their open streams", positionals: ["TENANT"] },
    resume: { summary: "Accept the callers of a tenant again", positionals: ["TENANT"] },
    remove: { summary: "Remove a tenant with its members and keys", positionals: ["TENANT"] },
    members: { summary: "List the members of a tenant", positionals: ["TENANT"] },
    "add-member": { summary: "Add a person to a tenant, or change their rights", positionals: ["TENANT", "PERSON"] },
    "remove-member": { summary: "Remove a person from a tenant", positionals: ["TENANT", "PERSON"] },
    usage: { summary: "Sum calls, tokens and cost of all tenants, or of one tenant", positionals: ["[TENANT]"] },
  },
  options: {
    name: { value: "NAME", description: "For create and set: display name" },
    quota: {
      value: "UNIT/PERIOD=N",
      repeatable: true,
      description:
        "For create and set: hard limit of calls, tokens or cost in a day or month: calls/day=1000; none removes all",
    },
    soft: {
      value: "UNIT/PERIOD=N",
      repeatable: true,
      description: "For create and set: soft limit, which only sends an alert",
    },
    budget: {
      value: "PERIOD=AMOUNT",
      repeatable: true,
      description: "For create and set: budget, which only sends alerts: month=100; none removes all",
    },
    toolset: {
      value: "NAME",
      repeatable: true,
      description: "For create and set: toolset that the tenant's callers may use; * for all",
    },
    group: {
      value: "GROUP=ROLES",
      repeatable: true,
      description:
        "For create and set: group of an issuer whose members belong to the tenant, with their roles: eng=operator,approver; none removes all",
    },
    webhook: {
      value: "URL",
      description: "For create and set: webhook that also receives the tenant's alerts; none removes it",
    },
    role: { value: "ROLE", repeatable: true, description: "For add-member: role" },
    capability: { value: "C", repeatable: true, description: "For add-member: capability, such as read_data, or all" },
    scope: { value: "SCOPE", repeatable: true, description: "For add-member: scope" },
    by: { value: "PARTS", description: "For usage: how to group the sums", fallback: "day,tenant,key,tool" },
    from: { value: "DAY", description: "For usage: first day", fallback: "30 days ago" },
    to: { value: "DAY", description: "For usage: last day", fallback: "today" },
    csv: { description: "For usage: print CSV" },
  },
  examples: [
    "tenants create acme --quota calls/day=10000 --soft calls/day=8000 --budget month=200",
    "tenants set acme --toolset support --group acme-admins=operator",
    "tenants suspend acme",
    "tenants add-member acme ada@example.com --role operator --capability all",
    "tenants usage acme --by day,tool --csv",
  ],
  run(input, terminal) {
    const [action = "", id = "", person = ""] = input.positionals;
    if (id !== "" && !new RegExp(TENANT_ID).test(id)) {
      const fix = "Use lower-case letters, digits, dashes and underscores.";
      throw wrongInput("TENANT", id, `"${id}" is not a valid id of a tenant.`, fix);
    }
    return withKeptState("Tenants", input, terminal, async ({ states: [state], recorded }) => {
      await run({ action, id, person, teams: localTeams(state), recorded, input, terminal });
    });
  },
};

interface TenantStep {
  readonly action: string;
  readonly id: string;
  readonly person: string;
  readonly teams: TeamAdministration;
  readonly recorded: RecordedChange;
  readonly input: Input;
  readonly terminal: Terminal;
}

async function run(step: TenantStep): Promise<void> {
  const { action, id, person, teams, recorded, input, terminal } = step;
  const done = (text: string, value: unknown): void => {
    if (input.json) terminal.out.write(`${JSON.stringify(value)}\n`);
    else terminal.err.write(`${text} Running gateways follow within a second.\n`);
  };
  switch (action) {
    case "list":
      return listTenants(await teams.tenants(BY), step);
    case "show":
      return showTenant(step);
    case "create": {
      const settings = await readTenantSettings(input, undefined);
      const made = await recorded("createTenant", [id], () => teams.createTenant({ id, ...settings }, BY));
      done(`Created ${id}.`, made);
      if (!input.json) terminal.err.write(`Create a key with: toolarsenal keys create NAME --tenant ${id}\n`);
      return;
    }
    case "set": {
      const settings = await readTenantSettings(input, await teams.tenant(id, BY));
      if (Object.keys(settings).length === 0)
        throw wrongInput("--quota", undefined, "There is nothing to set.", "See: toolarsenal tenants --help");
      return done(`Changed ${id}.`, await recorded("changeTenant", [id], () => teams.changeTenant(id, settings, BY)));
    }
    case "suspend":
    case "resume": {
      const state = action === "suspend" ? "suspended" : "active";
      const changed = await recorded("changeTenant", [id], () => teams.changeTenant(id, { state }, BY));
      return done(action === "suspend" ? `Suspended ${id}.` : `Resumed ${id}.`, changed);
    }
    case "remove":
      await recorded("removeTenant", [id], () => teams.removeTenant(id, BY));
      return done(`Removed ${id} with its members and keys.`, { id, outcome: "removed" });
    case "members":
      return listMembers(await teams.members(id, BY), step);
    case "add-member": {
      const grant = readGrant(input);
      const member = await recorded("setMember", [id, person], () => teams.setMember(id, person, grant, BY));
      return done(`${person} belongs to ${id}.`, member);
    }
    case "remove-member":
      await recorded("removeMember", [id, person], () => teams.removeMember(id, person, BY));
      return done(`${person} no longer belongs to ${id}.`, { id: person, outcome: "removed" });
    default:
      return showUsage(step);
  }
}

function listTenants(tenants: readonly Tenant[], { input, terminal }: TenantStep): void {
  const rows = tenants.map((tenant) => [
    tenant.id,
    tenant.state,
    clip(tenant.name ?? "", 40),
    `toolsets ${tenant.toolsets.join(" ")}`,
    tenant.quotas.map(({ unit, period, hard, soft }) => `${unit}/${period}=${hard ?? `(${soft})`}`).join(" "),
  ]);
  const none = "No tenants. Create one with: toolarsenal tenants create TENANT";
  printList(input, terminal, tenants, rows, rows.length === 0 ? none : "");
}

async function showTenant({ id, teams, input, terminal }: TenantStep): Promise<void> {
  const tenant = await teams.tenant(id, BY);
  const quotas = await teams.quotas(id, BY);
  const rows = [
    ["state", tenant.state],
    ["name", tenant.name ?? ""],
    ["toolsets", tenant.toolsets.join(" ")],
    ["groups", tenant.groups.map(({ group, roles = [] }) => `${group}=${roles.join(",")}`).join(" ")],
    ...quotas.map(({ unit, period, used, soft, hard, budget }) => [
      `${unit}/${period}`,
      [`used ${used}`, limit("soft", soft), limit("hard", hard), limit("budget", budget)].filter(Boolean).join(", "),
    ]),
  ];
  printList(input, terminal, { ...tenant, used: quotas }, rows, "");
}

const limit = (name: string, value: number | undefined): string => (value === undefined ? "" : `${name} ${value}`);

function listMembers(members: readonly Member[], { id, input, terminal }: TenantStep): void {
  const rows = members.map((member) => [
    clip(member.id, 60),
    member.roles.join(" "),
    member.capabilities.join(" "),
    member.scopes.join(" "),
  ]);
  printList(input, terminal, members, rows, rows.length === 0 ? `${id} has no members.` : "");
}

async function showUsage({ id, teams, input, terminal }: TenantStep): Promise<void> {
  const { by: parts, from, to } = input.options;
  const by = (parts?.split(",") ?? USAGE_PARTS) as readonly UsagePart[];
  const odd = by.find((part) => !USAGE_PARTS.includes(part));
  if (odd !== undefined)
    throw wrongInput("--by", odd, `--by cannot be "${odd}".`, `Use some of ${USAGE_PARTS.join(",")}.`);
  for (const [name, day] of Object.entries({ from, to }))
    if (day !== undefined && !/^\d{4}-\d\d-\d\d$/.test(day))
      throw wrongInput(`--${name}`, day, `--${name} is not a day.`, "Write it as 2026-05-01.");
  const rows = await teams.usage({ by, from, to, ...(id !== "" && { tenant: id }) }, BY);
  if (input.flags.has("csv")) return void terminal.out.write(usageCsv(rows));
  const cells = rows.map((row) => [
    ...by.map((part) => clip(row[part] === "" ? "-" : row[part], 60)),
    ...[row.calls, row.errors, row.tokens].map(String),
    row.cost.toFixed(4),
  ]);
  const lines = cells.length === 0 ? [] : [[...by, "calls", "errors", "tokens", "cost"], ...cells];
  printList(input, terminal, rows, lines, lines.length === 0 ? "No calls in these days." : "");
}
