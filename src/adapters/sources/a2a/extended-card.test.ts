import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cardOf, type PlainServer, sendJson, startPlainServer } from "../../../../test/a2a/plain-server.ts";
import { ToolArsenal } from "../../../arsenal.ts";
import { TOOLS_EXTENSION } from "./tools-extension.ts";

let cleanUp: AsyncDisposableStack;
beforeEach(() => void (cleanUp = new AsyncDisposableStack()));
afterEach(() => cleanUp.disposeAsync());

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const skills = ["tell", "sing"].map((id) => ({ id, name: id, description: `Will ${id}.`, tags: [] }));

/** What an agent of one version and binding shows to callers it knows. */
function extended(tools: unknown) {
  return {
    capabilities: { extendedAgentCard: true, extensions: [{ uri: TOOLS_EXTENSION, params: { tools } }] },
    skills,
  };
}

const FORMS = [
  { form: "1.0 over JSON-RPC", binding: "JSONRPC", version: "1.0", path: "/agent", method: "GetExtendedAgentCard" },
  { form: "1.0 over HTTP+JSON", binding: "HTTP+JSON", version: "1.0", path: "/agent/extendedAgentCard" },
  {
    form: "0.3 over JSON-RPC",
    binding: "JSONRPC",
    version: "0.3",
    path: "/agent",
    method: "agent/getAuthenticatedExtendedCard",
  },
  { form: "0.3 over HTTP+JSON", binding: "HTTP+JSON", version: "0.3", path: "/agent/v1/card" },
] as const;

/** An agent with an open card without skills, and whatever it answers when it is asked for more. */
async function startAgent(
  form: (typeof FORMS)[number],
  answer: (url: string) => unknown,
  status = 200,
): Promise<PlainServer> {
  const { binding, version, path } = form;
  const open = (url: string): object => {
    const supportedInterfaces = [{ url: `${url}/agent`, protocolBinding: binding, protocolVersion: version }];
    return cardOf(url, { supportedInterfaces, capabilities: { extendedAgentCard: true } });
  };
  return cleanUp.use(
    await startPlainServer({
      "/.well-known/agent-card.json": (response, _body, _request, url) => sendJson(response, open(url)),
      [path]: (response, { id }, _request, url) => {
        const card = answer(url);
        const whole = typeof card === "object" ? { ...open(url), ...card } : card;
        sendJson(response, binding === "JSONRPC" ? { jsonrpc: "2.0", id, result: whole } : whole, status);
      },
    }),
  );
}

async function toolsOf({ url }: PlainServer) {
  const arsenal = cleanUp.use(new ToolArsenal({ telemetry: { enabled: false } }));
  await arsenal.addA2aAgent({ name: "plain", url, refreshS: 0 });
  return (await arsenal.listTools()).map(({ name, parameters: { required } }) => [name, required]);
}

describe.each(FORMS)("the card that an agent of $form shows to those it knows", (form) => {
  it("is used, and its skills have the parameters that it names", async () => {
    const agent = await startAgent(form, () => extended({ tell: { parameters }, none: { parameters } }));
    expect(await toolsOf(agent)).toEqual([
      ["a2a_plain_sing", ["message"]],
      ["a2a_plain_tell", ["city"]],
    ]);
    if ("method" in form) expect(agent.bodies[0]).toMatchObject({ method: form.method });
  });

  it("is done without if the agent refuses it", async () => {
    expect(await toolsOf(await startAgent(form, () => extended({}), 401))).toEqual([["a2a_plain", ["message"]]]);
  });
});

it.each([["nothing"], [[]], [{ tell: "now" }], [{ tell: { parameters: "any" } }]])(
  "takes a skill for a tool only if its parameters can be read: %j",
  async (tools) => {
    expect(await toolsOf(await startAgent(FORMS[0], () => extended(tools)))).toContainEqual([
      "a2a_plain_tell",
      ["message"],
    ]);
  },
);
