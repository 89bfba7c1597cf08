import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it, onTestFinished } from "vitest";
import { bearerToken } from "../../adapters/identity/bearer-token.ts";
import {
  type ApiDocument,
  callByDocument,
  createAnswerCheck,
  operationsOf,
} from "../../../test/serve/document-client.ts";
import { askAt, openGateway } from "../../../test/serve/rest-gateway.ts";
import { OPERATIONS } from "./operations/all.ts";

const TOOLSETS = { toolsets: [{ name: "support", description: "For support.", include: { namespaces: ["billing"] } }] };

async function documented(...options: Parameters<typeof openGateway>) {
  const opened = await openGateway(...options);
  const { body, headers } = await askAt(opened.url)("GET", "/openapi.json");
  return { ...opened, document: body as ApiDocument & Record<string, unknown>, etag: headers.get("etag") ?? "" };
}

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1, and names every operation with all that can come of it", async () => {
    const { document, url } = await documented();
    const validator = new Validator();
    expect(await validator.validate(document)).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    expect(document["servers"]).toEqual([{ url }]);
    expect(document["security"]).toBeUndefined();
    const operations = operationsOf(document);
    expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
      OPERATIONS.map(({ id }) => id).toSorted(),
    );
    for (const { operationId, responses, parameters = [] } of operations) {
      expect([operationId, Object.keys(responses)]).toEqual([
        operationId,
        expect.arrayContaining(["400", "403", "503"]),
      ]);
      const undescribed = parameters.filter((each) => !("description" in each)).map(({ name }) => name);
      expect([operationId, undescribed]).toEqual([operationId, []]);
    }
  });

  it("says what a gateway without an audit log and a history answers to those who ask for them", async () => {
    const { document, ask } = await documented();
    const asked = ["queryAudit", "verifyAudit", "listHistory", "getTrace", "getCosts"];
    const operations = operationsOf(document).filter(({ operationId }) => asked.includes(operationId));
    expect(operations).toHaveLength(asked.length);
    for (const { operationId, method, path, responses } of operations) {
      const { status, body } = await ask(method, path.replace("/api/v1", ""));
      expect([operationId, status, body.code]).toEqual([operationId, 404, "CONFIG_INVALID"]);
      expect([operationId, responses["404"], responses["422"]]).toEqual([
        operationId,
        expect.objectContaining({ description: expect.stringContaining("`CONFIG_INVALID`") as string }),
        undefined,
      ]);
    }
  });

  it("has an ETag, and is sent once to those who keep it", async () => {
    const { url, etag } = await documented();
    const again = await askAt(url)("GET", "/openapi.json", { headers: { "if-none-match": `W/${etag}` } });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await askAt(url)("POST", "/openapi.json")).status).toBe(405);
  });

  it("asks for a token where callers must have one, and is itself for them alone", async () => {
    const token = "a-token-of-some-length";
    const { url, document } = await documented({
      identity: bearerToken({ tokens: [token] }),
      publicUrl: "https://tools.example.com",
    });
    expect(document).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    const { body } = await askAt(url)("GET", "/openapi.json", { headers: { authorization: `Bearer ${token}` } });
    expect(body).toMatchObject({
      servers: [{ url: "https://tools.example.com" }],
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    });
    expect(body.paths["/api/v1/tools"].get.responses).toHaveProperty("401");
  });

  it("has no operation for operators where one toolset is served", async () => {
    const { document, ask } = await documented({ toolset: "support" }, TOOLSETS);
    const ids = operationsOf(document).map(({ operationId }) => operationId);
    expect(ids).toContain("execute");
    expect(ids.filter((id) => OPERATIONS.find((each) => each.id === id)?.role === "operator")).toEqual([]);
    expect((await ask("POST", "/tools", { body: { name: "t" } })).status).toBe(405);
  });

  it("is enough to call every operation, and each answer is as it says", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rest-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const policyFile = join(folder, "policy.yaml");
    writeFileSync(
      policyFile,
      "version: 1\nrules:\n  - { id: ask, effect: require_approval, tools: [shop.close_account] }\n  - { id: all, effect: allow }\n",
    );
    const config = {
      ...TOOLSETS,
      audit: { file: join(folder, "audit.jsonl") },
      teams: { enabled: true },
      telemetry: { enabled: false, history: { enabled: true } },
      security: { policyFile, selfApproval: "local" as const },
    };
    const { document, url, ask } = await documented({}, config);
    // Two calls that wait: one to approve, one to deny.
    for (const reason of ["moved", "closed"]) {
      const body = { toolName: "shop.close_account", arguments: { reason } };
      expect(await ask("POST", "/execute", { body })).toMatchObject({ status: 202 });
    }

    const check = createAnswerCheck(document);
    const endless = new Set(OPERATIONS.filter((each) => each.endless === true).map(({ id }) => id));
    const order = (id: string): number =>
      /^(?:add|create)/.test(id) ? 0 : id === "removeTenant" ? 3 : /^(?:delete|remove)/.test(id) ? 2 : 1;
    const ordered = operationsOf(document)
      .filter(({ operationId }) => !endless.has(operationId))
      .toSorted((a, b) => order(a.operationId) - order(b.operationId));
    const refused: Record<string, number> = {};
    for (const operation of ordered) {
      const { operationId, responses } = operation;
      const streams = Object.values(responses).some(({ content }) => content?.["text/event-stream"] !== undefined);
      for (const accept of ["application/json", ...(streams ? ["text/event-stream"] : [])]) {
        const answer = await callByDocument(url, operation, { accept });
        const wrong = check(operation, answer);
        expect([operationId, accept, answer.status, wrong]).toEqual([operationId, accept, answer.status, []]);
        if (answer.status >= 300) refused[operationId] = answer.status;
      }
    }
    // Nothing listens at the address of the example, nothing has changed that could be accepted or refused, the trace and the workflow of the
    // examples never were, no server has callers that sign in, and no registry is configured.
    const unknown = { getTrace: 404, getWorkflow: 404, signInConnection: 404, signOutConnection: 404 };
    const unlisted = { getRegistryServer: 400, addRegistryServer: 422 };
    // The run of the example never was, so no program is saved.
    const unsaved = { saveProgram: 400, getSavedProgram: 404, acceptProgram: 404, removeSavedProgram: 404 };
    expect(refused).toEqual({
      ...unknown,
      ...unlisted,
      ...unsaved,
      acceptPin: expect.any(Number),
      refusePin: expect.any(Number),
    });
  });

  it("makes the gateway a source of another one: its operations are tools, and they run", async () => {
    const { url } = await documented();
    const { arsenal } = await openGateway();
    const count = await arsenal.add({ type: "openapi", name: "remote", document: `${url}/openapi.json`, server: url });
    expect(count).toBe(OPERATIONS.length);
    const found = await arsenal.execute({
      toolName: "remote.search",
      arguments: { context: { query: "show an invoice" } },
    });
    expect(found).toMatchObject({ status: "success" });
    expect(JSON.stringify(found.result)).toContain("billing.get_invoice");
    const ran = await arsenal.execute({
      toolName: "remote.execute",
      arguments: { toolName: "billing.get_invoice", arguments: { invoiceId: "A-1" } },
    });
    expect(JSON.stringify(ran.result)).toContain('{"found":"A-1"}');
  });
});
