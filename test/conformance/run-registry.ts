/**
 * Checks every answer of the gateway's /registry/v0.1, and of the double that tests use, with the MCP registry's own OpenAPI document, and compares
 * our facts about the API with it. The document is docs/reference/api/openapi.yaml of modelcontextprotocol/registry.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { startGateway } from "../e2e/gateway-process.ts";
import { startLegacyServer } from "../mcp/upstream-server.ts";
import { askRegistry, requestsFor } from "../registries/api-requests.ts";
import { type ApiDescription, apiDifferences, createApiCheck } from "../registries/check-api.ts";
import { REGISTRY_API } from "../registries/openapi-facts.ts";
import { generateEntries, startRegistry } from "../registries/registry-double.ts";

const KEY = "key-of-this-conformance-run";
/** Answers that the document does not list must still be its failures. */
const FAILURE = { type: "object", required: ["error"], properties: { error: { type: "string" } } };

const { values } = parseArgs({ options: { document: { type: "string" }, verbose: { type: "boolean" } } });
if (values.document === undefined) {
  process.stderr.write("Use: node test/conformance/run-registry.ts --document FILE [--verbose]\n");
  process.exit(2);
}
const document = parse(readFileSync(values.document, "utf8")) as ApiDescription;
const failures = { components: { schemas: { ...document.components.schemas, Failure: FAILURE } }, paths: {} };
const [check, failure] = [createApiCheck(document), createApiCheck(failures)];

async function judge(
  registry: string,
  base: string,
  server: { readonly name: string; readonly version: string },
  headers?: Readonly<Record<string, string>>,
): Promise<void> {
  let [valid, unlisted, wrong] = [0, 0, 0];
  const requests = requestsFor(server.name, server.version);
  const refused = headers === undefined ? [] : requests.map((each) => ({ ...each, status: 401, isRefused: true }));
  for (const request of [...requests, ...refused]) {
    const answer = await askRegistry(base, request, "isRefused" in request ? {} : headers);
    const { isDescribed, problems, template } = check.answer(answer);
    const unlistedProblems = isDescribed ? [] : failure.shape("Failure", answer.body);
    const statuses = answer.status === request.status ? [] : [`${request.status} was expected`];
    const all = [...statuses, ...problems, ...unlistedProblems];
    if (all.length > 0) wrong++;
    else if (isDescribed) valid++;
    else unlisted++;
    if (all.length > 0 || values.verbose === true)
      process.stdout.write(
        `${all.length > 0 ? "FAILED" : "ok    "}  ${request.method} ${request.path}  ${answer.status}  ${template ?? "not in the document"}  ${all.join("; ")}\n`,
      );
  }
  if (wrong > 0) process.exitCode = 1;
  process.stdout.write(
    `${registry}: ${valid} answers valid by the document, ${unlisted} with a status that it does not list and its form of failures, ${wrong} wrong\n`,
  );
}

const upstream = await startLegacyServer();
const double = await startRegistry(generateEntries(200));
const gateway = await startGateway({
  tier: "lexical",
  servers: { notes: { type: "http", url: upstream.url } },
  settings: {
    server: { tokens: { conformance: KEY } },
    toolsets: [{ name: "desk", include: { namespaces: ["notes"] } }],
  },
});
try {
  const headers = { authorization: `Bearer ${KEY}` };
  const listed = await askRegistry(`${gateway.url}/registry`, { method: "GET", path: "/v0.1/servers" }, headers);
  const { servers } = listed.body as { servers: { server: { name: string; version: string } }[] };
  const own = servers.find(({ server }) => server.name.endsWith("/notes"))?.server;
  if (own === undefined) throw new Error("The gateway does not list its server.");
  await judge("The gateway", `${gateway.url}/registry`, own, headers);
  const [first] = double.servers.values();
  if (first?.[0] !== undefined) await judge("The double", double.url, first[0].server);
  const entries = [...double.servers.values()].flat();
  const invalid = entries.filter(({ server }) => check.shape("ServerDetail", server).length > 0);
  process.stdout.write(`The double's documents: ${entries.length - invalid.length} of ${entries.length} valid\n`);
  const differences = apiDifferences(REGISTRY_API, document);
  for (const difference of differences) process.stdout.write(`FAILED  ${difference}\n`);
  const shapes = Object.keys(document.components.schemas).length;
  process.stdout.write(`Our facts: ${shapes} shapes in the document, ${differences.length} differences\n`);
  if (invalid.length > 0 || differences.length > 0) process.exitCode = 1;
} finally {
  await Promise.all([gateway.close(), double.close(), upstream.close()]);
}
