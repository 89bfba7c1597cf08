import type Http from "node:http";

/** Returns Node's HTTP. An `import` of its functions would also load its WebSocket client, which takes longer than everything else in it. */
export function nodeHttp(): typeof Http {
  return process.getBuiltinModule("node:http");
}
