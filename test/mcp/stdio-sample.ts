import { serveStdio } from "../../src/serve/mcp/stdio-server.ts";
import { aloneOnMemory } from "./sample-endpoint.ts";
import { createSamplePlane } from "./sample-plane.ts";

/** The sample plane as a process that speaks MCP on its standard streams. */
await serveStdio(createSamplePlane(), { ...(await aloneOnMemory()), input: process.stdin, output: process.stdout })
  .closed;
