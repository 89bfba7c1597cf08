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
const expiresAt = refined(text("When the key expires: 2026-12-31T00:00:00Z. Defaults to never."), { maxLength: 64 });
const tenant = refined(text("A tenant's id."), { maxLength: 256 });
const { statusOf } = NO_TEAMS;
const problems = [...NO_TEAMS.problems, "TENANT_NOT_FOUND"] as const;

const NEW_KEY = {
  description: "The key. Its text is shown only once.",
  schema: entry("", { key: KEY, text: string("The text of the key. Send it as `X-API-Key` or as a bearer token.") }, [
    "key",
    "text",
  ]),
};

const HOUR_MS = 3_600_000;

export const keyOperations: readonly Operation[] = [
  operation("listKeys", "GET /keys", {
    summary: "List the API keys in the shared state, without their secret text",
    description: "An operator who belongs to a tenant sees that tenant's keys.",
    query: entry("", { tenant }),
    answers: { 200: answer("The keys, ordered by name.", { keys: list("Ordered by name.", KEY) }, ["keys"]) },
    problems,
    statusOf,
    run: async ({ query, principal }, context) => ({ body: { keys: await teamsOf(context).keys(query, principal) } }),
  }),
  operation("createKey", "POST /keys", {
    summary: "Create an API key and show it once",
    description:
      "The gateway stores only a hash of the key. You can grant only rights that you have. An operator of a tenant creates keys of that tenant.",
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
      overlapHours: whole("How long the old secret is still accepted, in hours. Defaults to 24.", 0, 720),
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
    description:
      "Every process on the same state refuses the key within a second, and ends the streams that were opened with it.",
    params,
    answers: { 204: { description: "The key is revoked." } },
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
  from: DAY("The first day (UTC): 2026-05-01. Defaults to 30 days ago."),
  to: DAY("The last day, inclusive. Defaults to today."),
  tenant,
  by: list("How to group the sums. Defaults to `day,tenant,key,tool`.", choice("", USAGE_PARTS)),
});

const ROW = entry(
  "The sums for one day, tenant, key and tool. Fields that are not in `by` are empty.",
  {
    day: string("The day (UTC)."),
    tenant: string("The tenant. Empty for callers without one."),
    key: string("The name of the API key, or the id of the caller if it has no key."),
    tool: string("The tool's id."),
    calls: whole("The number of calls."),
    errors: whole("The number of calls that failed or were refused."),
    tokens: whole("Estimated tokens of arguments and results."),
    cost: number("The cost that the tools declare."),
  },
  ["day", "tenant", "key", "tool", "calls", "errors", "tokens", "cost"],
);

export const usageOperations: readonly Operation[] = [
  usage("getUsage", "GET /usage", {
    summary: "Sum calls, tokens and cost by day, tenant, key and tool",
    description: "Usage is stored for 400 days. An operator who belongs to a tenant sees that tenant's usage.",
    query: USAGE_QUERY,
    answers: {
      200: answer("The sums.", { usage: list("The sums, ordered by day, tenant, key and tool.", ROW) }, ["usage"]),
    },
    problems,
    statusOf,
    run: async ({ query, principal }, context) => ({ body: { usage: await teamsOf(context).usage(query, principal) } }),
  }),
  usage("exportUsage", "GET /usage.csv", {
    summary: "Sum calls, tokens and cost, as CSV",
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
