import { ProtocolError, Server } from "@modelcontextprotocol/server";
import { listenAs } from "../era-server.ts";

/** A real MCP server that keeps what it was asked for. */
export interface Upstream {
  readonly url: string;
  /** The methods of what reached it, lists aside, oldest first. */
  readonly reached: string[];
  close(): Promise<void>;
}

const SCHEMA = { type: "object" as const, properties: { text: { type: "string" } }, required: ["text"] };
const INVALID_PARAMS = -32_602;

/** Starts a server of one era with two tools, a resource, a template and a prompt. */
export async function startUpstream(era: "legacy" | "modern"): Promise<Upstream> {
  const reached: string[] = [];
  return { reached, ...(await listenAs(era, () => build(reached))) };
}

function build(reached: string[]): Server {
  const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} };
  const server = new Server({ name: "upstream", version: "1.0.0" }, { capabilities });
  const heard = (method: string): void => void reached.push(method);

  server.setRequestHandler("tools/list", () => ({
    tools: ["echo", "check"].map((name) => ({ name, description: "Repeats a text.", inputSchema: SCHEMA })),
  }));
  server.setRequestHandler("tools/call", ({ params }) => {
    heard("tools/call");
    const text = params.arguments?.["text"];
    if (typeof text !== "string") throw new ProtocolError(INVALID_PARAMS, "text is missing");
    return { content: [{ type: "text", text }] };
  });

  server.setRequestHandler("resources/list", () => ({ resources: [{ uri: "note://one", name: "one" }] }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "note://{name}", name: "note" }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    heard("resources/read");
    return { contents: [{ uri, text: "a note" }] };
  });
  server.setRequestHandler("resources/subscribe", () => {
    heard("resources/subscribe");
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", () => ({}));

  server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "hello", arguments: [{ name: "who" }] }] }));
  server.setRequestHandler("prompts/get", () => {
    heard("prompts/get");
    return { messages: [{ role: "user", content: { type: "text", text: "Say hello." } }] };
  });
  server.setRequestHandler("completion/complete", () => {
    heard("completion/complete");
    return { completion: { values: ["one"] } };
  });
  return server;
}
