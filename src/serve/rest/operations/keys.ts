import { KEY } from "../../../teams/keys.ts";
import { usageCsv, USAGE_PARTS } from "../../../teams/usage-csv.ts";
import { GRANT } from "../../../teams/tenant.ts";
import { choice, entry, list, number, refined, string, text, whole } from "../../../tool/shape/shape.ts";
import { answer, type Operation, operationsOf } from "../operation.ts";
import { NO_TEAMS, teamsOf } from "./tenants.ts";
import { timeOf } from "./time-of.ts";

const operation = operationsOf({ tag: "Keys", role: "operator", feature: "teams" });
const usage = operationsOf({ tag: "Usage", role: "operator", feature: "teams" });

const name = KEY.properties.name;
const params = entry("", { name: refined(string("The key's name."), { maxLength: 63, examples: ["ci"] }) }, ["name"]);
const expiresAt = refined(text("When it expires: 2026-12-31T00:00:00Z. Default: never."), { maxLength: 64 });
const tenant = refined(text("A tenant's id."), { maxLength: 256 });
const { statusOf } = NO_TEAMS;
const problems = [...NO_TEAMS.problems, "TENANT_NOT_FOUND"] as const;

const NEW_KEY = {
  description: "The key. Its text is shown only once.",
  schema: entry("", { key: KEY, text: string("The key, to be sent as `X-API-Key` or as a bearer token.") }, [
    "key",
    "text",
  ]),
};

const HOUR_MS = 3_600_000;

export const keyOperations: readonly Operation[] = [
  operation("listKeys", "GET /keys", {
    summary: "List the API keys in the shared state, without the keys themselves",
    description: "An operator who belongs to a tenant sees that tenant's keys.",
    query: entry("", { tenant }),
    answers: { 200: answer("By name.", { keys: list("By name.", KEY) }, ["keys"]) },
    problems,
    statusOf,
    run: async ({ query, principal }, context) => ({ body: { keys: await teamsOf(context).keys(query, principal) } }),
  }),
  operation("createKey", "POST /keys", {
    summary: "Create an API key and show it once",
    description:
      "Only a hash is kept. You can give only rights that you have; a tenant's operator creates keys of that tenant.",
    body: entry("", { name, tenant, ...GRANT.properties, expiresAt }, ["name"]),
    examples: { "A key that reads data": { name: "ci", tenant: "acme", capabilities: ["read_data"] } },
    answers: { 201: NEW_KEY },
    problems: [...problems, "NAME_TAKEN"],
    statusOf,
    targets: ({ body }) => [body.name],
    async run({ body: { expiresAt: until, ...asked }, principal }, context) {
      const expiry = { expiresAt: timeOf("expiresAt", until) };
      return { status: 201, body: await teamsOf(context).createKey({ ...asked, ...expiry }, principal) };
    },
  }),
  operation("rotateKey", "POST /keys/{name}/rotate", {
    summary: "Replace the secret of a key and show the new one once",
    params,
    body: entry("", {
      overlapHours: whole("Hours for which the old secret is still accepted. Default 24.", 0, 720),
      expiresAt,
    }),
    answers: { 200: NEW_KEY },
    problems,
    statusOf,
    targets: ({ params: asked }) => [asked.name],
    async run({ params: asked, body: { overlapHours = 24, expiresAt: until }, principal }, context) {
      const options = { overlapMs: overlapHours * HOUR_MS, expiresAt: timeOf("expiresAt", until) };
      return { body: await teamsOf(context).rotateKey(asked.name, options, principal) };
    },
  }),
  operation("revokeKey", "DELETE /keys/{name}", {
    summary: "Revoke a key",
    description: "Every process on the same state refuses it within a second, and ends the streams that it opened.",
    params,
    answers: { 204: { description: "It is revoked." } },
    problems,
    statusOf,
    targets: ({ params: asked }) => [asked.name],
    async run({ params: asked, principal }, context) {
      await teamsOf(context).revokeKey(asked.name, principal);
      return { status: 204 };
    },
  }),
];

const DAY = (description: string) =>
  refined(text(description), { pattern: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$" });

const USAGE_QUERY = entry("", {
  from: DAY("The first day, by UTC: 2026-05-01. Default: 30 days back."),
  to: DAY("The last day, included. Default: today."),
  tenant,
  by: list("What to add up by. Default: `day,tenant,key,tool`.", choice("", USAGE_PARTS)),
});

const ROW = entry(
  "The sums of one day, tenant, key and tool. A field that is not in `by` is empty.",
  {
    day: string("The day, by UTC."),
    tenant: string("The tenant. Empty for callers without one."),
    key: string("The name of the key, or the id of another caller."),
    tool: string("The tool's id."),
    calls: whole("Calls."),
    errors: whole("Calls that failed or were refused."),
    tokens: whole("Estimated tokens of arguments and results."),
    cost: number("The cost that the tools declare."),
  },
  ["day", "tenant", "key", "tool", "calls", "errors", "tokens", "cost"],
);

export const usageOperations: readonly Operation[] = [
  usage("getUsage", "GET /usage", {
    summary: "Add up calls, tokens and cost by day, tenant, key and tool",
    description: "Usage is kept for 400 days. An operator who belongs to a tenant sees that tenant's.",
    query: USAGE_QUERY,
    answers: { 200: answer("In order.", { usage: list("In order.", ROW) }, ["usage"]) },
    problems,
    statusOf,
    run: async ({ query, principal }, context) => ({ body: { usage: await teamsOf(context).usage(query, principal) } }),
  }),
  usage("exportUsage", "GET /usage.csv", {
    summary: "The same as CSV",
    query: USAGE_QUERY,
    answers: { 200: { description: "A header and one line for each sum.", text: "text/csv" } },
    problems,
    statusOf,
    async run({ query, principal }, context) {
      const headers = { "content-disposition": 'attachment; filename="usage.csv"' };
      return { text: usageCsv(await teamsOf(context).usage(query, principal)), type: "text/csv", headers };
    },
  }),
];
