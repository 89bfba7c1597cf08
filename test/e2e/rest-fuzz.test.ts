import { Agent, request } from "node:http";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { bearerToken } from "../../src/adapters/identity/bearer-token.ts";
import { localOperator } from "../../src/guard/principal.ts";
import { OPERATIONS } from "../../src/serve/rest/operations/all.ts";
import { repeats, SEED } from "../kit/effort.ts";
import { requestsTo, type WireRequest } from "../serve/arbitrary-requests.ts";
import { type ApiDocument, createAnswerCheck, operationsOf } from "../serve/document-client.ts";
import { askAt, openGateway, type RestAnswer } from "../serve/rest-gateway.ts";

const RUNS = repeats(1_500, 50_000);
/** Requests under way at once. */
const AT_ONCE = 8;

const TOKEN = "a-token-of-some-length";
// May do everything that a remote caller may do, and start no program on this machine.
const identity = bearerToken({ tokens: [{ token: TOKEN, principal: localOperator({ id: "fuzz", local: false }) }] });

/** Values that lead somewhere. */
const KNOWN = {
  toolName: ["billing.get_invoice", "billing.list_invoices", "shop.ship", "shop.close_account"],
  arguments: [{ invoiceId: "INV-1" }, {}],
  id: ["billing.get_invoice", "shop.ship"],
  ids: [["billing.get_invoice"]],
  query: ["show me an invoice", "ship a parcel"],
  format: ["openai", "anthropic"],
  dialect: ["openai", "anthropic"],
  toolset: ["support"],
  name: ["support"],
  document: ["http://127.0.0.1:1/openapi.json"],
};

it(`never fails and never answers what the document does not say, whatever it is asked: ${RUNS} requests`, async () => {
  const toolsets = [{ name: "support", include: { namespaces: ["billing"] } }];
  const { url } = await openGateway({ identity }, { toolsets, teams: { enabled: true } });
  const authorization = `Bearer ${TOKEN}`;
  const { body: document } = await askAt(url)("GET", "/openapi.json", { headers: { authorization } });
  const endless = new Set(OPERATIONS.filter((each) => each.endless === true).map(({ id }) => id));
  const operations = operationsOf(document as ApiDocument).filter(({ operationId }) => !endless.has(operationId));
  const check = createAnswerCheck(document as ApiDocument);
  const requests = fc.sample(
    fc.oneof(...operations.map((operation) => requestsTo(operation, document as ApiDocument, KNOWN))),
    { numRuns: RUNS, seed: SEED },
  );

  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const wrong: unknown[] = [];
  const seen = new Map<number, number>();
  const queue = requests.values();
  const worker = async (): Promise<void> => {
    for (const asked of queue) {
      const answer = await send(url, asked, agent, authorization);
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      const problems = problemsOf(asked, answer);
      if (problems.length > 0)
        wrong.push({
          ...asked,
          operation: asked.operation.operationId,
          status: answer.status,
          problems,
          text: answer.text.slice(0, 300),
        });
    }
  };
  function problemsOf(asked: WireRequest, answer: RestAnswer): readonly string[] {
    if (answer.status >= 500) return ["The gateway failed."];
    // A path that a mutation changed may be another operation's, or nobody's.
    const isElsewhere = asked.method !== asked.operation.method || !matches(asked);
    if (!isElsewhere) return check(asked.operation, answer);
    if (answer.status >= 400 && answer.body?.code === undefined) return ["The refusal is no problem."];
    return answer.status === 405 && answer.headers.get("allow") === null ? ["405 without Allow."] : [];
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  agent.destroy();

  expect(wrong.slice(0, 5)).toEqual([]);
  // The requests were worth something: many succeeded, and many were refused.
  expect((seen.get(200) ?? 0) / RUNS).toBeGreaterThan(0.1);
  expect((seen.get(400) ?? 0) / RUNS).toBeGreaterThan(0.1);
  expect((await askAt(url)("GET", "/api/v1/info", { headers: { authorization } })).status).toBe(200);
}, 300_000);

function matches({ operation, path }: WireRequest): boolean {
  const pattern = operation.path.replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`).test(path.split("?")[0] ?? "");
}

function send(
  url: string,
  { method, path, headers, body }: WireRequest,
  agent: Agent,
  authorization: string,
): Promise<RestAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = request(
      url + path,
      { method, agent, headers: { ...headers, ...length, authorization } },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("error", reject);
        response.once("end", () => {
          const text = Buffer.concat(parts).toString();
          const answered = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
          const isJson = /json/.test(answered.get("content-type") ?? "");
          resolve({
            status: response.statusCode ?? 0,
            headers: answered,
            text,
            body: isJson && text !== "" ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}
