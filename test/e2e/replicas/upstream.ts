import { EventEmitter, once } from "node:events";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import { type EraServer, listenAs } from "../era-server.ts";

/** A real MCP server of one era that counts, by a unique argument, how often each call was executed. */
export interface Upstream extends Pick<EraServer, "url" | "close"> {
  /** How often the call with each id was executed. */
  readonly executed: ReadonlyMap<string, number>;
  /** `held` with the id of a call that waits, `go` with the id of one that may end. */
  readonly events: EventEmitter<{ held: [string]; go: [string] }>;
}

const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
const NAME_FORM = {
  type: "object" as const,
  properties: { name: { type: "string" as const } },
  required: ["name"],
};

/** Starts a server on loopback whose tools book, hold, ask and pay. */
export async function startUpstream(era: "legacy" | "modern"): Promise<Upstream> {
  const executed = new Map<string, number>();
  const events: Upstream["events"] = new EventEmitter();
  events.setMaxListeners(0);
  const count = (id: string): void => void executed.set(id, (executed.get(id) ?? 0) + 1);
  const inputSchema = z.object({ id: z.string() });

  function build(): McpServer {
    const server = new McpServer({ name: "upstream", version: "1.0.0" });
    server.registerTool("book", { description: "Books a seat.", inputSchema }, ({ id }) => {
      count(id);
      return text(`booked ${id}`);
    });
    server.registerTool("pay", { description: "Pays a bill.", inputSchema }, ({ id }) => {
      count(id);
      return text(`paid ${id}`);
    });
    server.registerTool("rated", { description: "May be called 60 times a minute.", inputSchema }, ({ id }) => {
      count(id);
      return text(`did ${id}`);
    });
    server.registerTool("hold", { description: "Holds a seat.", inputSchema }, async ({ id }) => {
      count(id);
      const told = new Promise<void>((resolve) => {
        const listen = (which: string): void => {
          if (which !== id) return;
          events.off("go", listen);
          resolve();
        };
        events.on("go", listen);
      });
      events.emit("held", id);
      await told;
      return text(`held ${id}`);
    });
    server.registerTool("greet", { description: "Asks for a name.", inputSchema }, ({ id }, context) => {
      const answer = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "who");
      if (answer === undefined)
        return inputRequired({
          inputRequests: { who: inputRequired.elicit({ message: "Who?", requestedSchema: NAME_FORM }) },
        });
      count(id);
      return text(`hello ${answer.name}`);
    });
    return server;
  }

  return {
    ...(await listenAs(era, build)),
    executed,
    events,
  };
}

/** Resolves when the call with that id waits at the server. */
export async function held({ events }: Upstream, id: string): Promise<void> {
  for (;;) {
    const [which] = (await once(events, "held")) as [string];
    if (which === id) return;
  }
}
