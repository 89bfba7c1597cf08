import { inputRequired, ProtocolError, Server } from "@modelcontextprotocol/server";

/** What the upstream can be asked to do with its credential. */
export const TOOLS = ["answer", "fail", "refuse", "report", "log", "elicit", "sample"] as const;

/** Builds an MCP server that repeats its own credential in everything it sends. */
export function buildEchoing(credential: string): Server {
  const echo = (what: string): string => `${what} with Bearer ${credential} and ${btoa(credential)}`;
  const server = new Server(
    { name: "echoing", version: "1.0.0", title: echo("Title") },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      instructions: echo("Instructions"),
    },
  );
  const content = [{ type: "text" as const, text: echo("Text") }];
  const inputSchema = { type: "object" as const, properties: { to: { type: "string", description: echo("To") } } };
  const tools = TOOLS.map((name) => ({
    name,
    title: echo("Tool"),
    description: echo(`The tool ${name}`),
    inputSchema,
  }));
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    switch (params.name) {
      case "fail":
        return { content, isError: true };
      case "refuse":
        throw new ProtocolError(-32_050, echo("Refused"), { seen: echo("Data"), [credential]: 1 });
      case "report":
        for (const [progress, message] of [echo("Progress"), credential.slice(0, 9), credential.slice(9)].entries())
          if (progressToken !== undefined)
            await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
        return { content };
      case "log": {
        const data = { text: echo("Log") };
        await mcpReq.notify({ method: "notifications/message", params: { level: "error", logger: credential, data } });
        return { content };
      }
      case "elicit": {
        if (mcpReq.inputResponses?.["who"] !== undefined) return { content };
        const requestedSchema = {
          type: "object" as const,
          properties: { name: { type: "string" as const, title: echo("Name") } },
        };
        return inputRequired({
          inputRequests: { who: inputRequired.elicit({ message: echo("Question"), requestedSchema }) },
        });
      }
      case "sample": {
        if (mcpReq.inputResponses?.["thought"] !== undefined) return { content };
        const messages = [{ role: "user" as const, content: { type: "text" as const, text: echo("Sampling") } }];
        return inputRequired({ inputRequests: { thought: inputRequired.createMessage({ messages, maxTokens: 9 }) } });
      }
      default:
        return { content, structuredContent: { [credential]: [echo("Structured")] } };
    }
  });
  const uri = "echo://one";
  server.setRequestHandler("resources/list", () => ({
    resources: [{ uri, name: "one", description: echo("Resource") }],
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "echo://{name}", name: "any", description: echo("Template") }],
  }));
  server.setRequestHandler("resources/read", () => ({
    contents: [
      { uri, text: echo("Contents") },
      { uri, blob: btoa(echo("Blob")) },
    ],
  }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "say", description: echo("Prompt") }] }));
  server.setRequestHandler("prompts/get", () => ({
    description: echo("Got"),
    messages: [{ role: "user", content: { type: "text", text: echo("Message") } }],
  }));
  server.setRequestHandler("completion/complete", () => ({ completion: { values: [credential, echo("Completion")] } }));
  return server;
}
