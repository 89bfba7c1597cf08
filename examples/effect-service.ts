import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { Effect, Fiber, Layer, Stream } from "effect";
import {
  EventBus,
  EventBusLive,
  IdentityServiceLive,
  type ToolDefinition,
  ToolExecutionError,
  ToolService,
  ToolServiceLive,
} from "toolarsenal/effect";

// Tools are data: parameters as a list, how risky they are, how long they may take.
const addTool: ToolDefinition = {
  name: "add",
  description: "Add two numbers",
  parameters: [
    { name: "a", type: "number", description: "First number", required: true },
    { name: "b", type: "number", description: "Second number", required: true },
  ],
  riskLevel: "low",
  timeoutMs: 5000,
  requiresApproval: false,
  source: "function",
};

const webSearchTool: ToolDefinition = {
  name: "web-search",
  description: "Search the web for information using a query string",
  parameters: [
    { name: "query", type: "string", description: "Search query", required: true },
    { name: "maxResults", type: "number", description: "Max results to return", required: false, default: 5 },
  ],
  category: "search",
  riskLevel: "low",
  timeoutMs: 10_000,
  requiresApproval: false,
  source: "builtin",
};

const fileReadTool: ToolDefinition = {
  name: "file-read",
  description: "Read the contents of a file",
  parameters: [
    { name: "path", type: "string", description: "File path to read", required: true },
    { name: "encoding", type: "string", description: "File encoding", required: false, default: "utf-8" },
  ],
  category: "file",
  riskLevel: "medium",
  timeoutMs: 5000,
  requiresApproval: false,
  source: "builtin",
};

// A scripted search engine on this machine, so that the example needs no key and no network. It stops with its scope.
const searchEngine = Effect.acquireRelease(
  Effect.callback<ReturnType<typeof createServer>>((resume) => {
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "/", "http://localhost");
      const titles = ["Effect documentation", "Effect on GitHub", "Effect blog"];
      const results = titles.slice(0, Number(searchParams.get("max_results"))).map((title) => ({ title }));
      response.end(JSON.stringify({ query: searchParams.get("query"), results }));
    });
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)));
  }),
  (server) => Effect.sync(() => (server.closeAllConnections(), server.close())),
);

// A handler is an Effect: it is interrupted when the call is cancelled or runs out of time, and aborts its request.
const webSearch = (endpoint: string) => (args: Record<string, unknown>) =>
  Effect.tryPromise({
    try: async (signal) => {
      const query = new URLSearchParams({ query: String(args["query"]), max_results: String(args["maxResults"]) });
      const response = await fetch(`${endpoint}/search?${query}`, { signal });
      return (await response.json()) as unknown;
    },
    catch: (cause) =>
      new ToolExecutionError({ message: `Web search failed: ${String(cause)}`, toolName: "web-search", cause }),
  });

const fileRead = (folder: string) => (args: Record<string, unknown>) =>
  Effect.tryPromise({
    try: async () => {
      const path = resolve(folder, String(args["path"]));
      if (relative(folder, path).startsWith("..")) throw new Error(`Path traversal detected: ${String(args["path"])}`);
      return await readFile(path, { encoding: args["encoding"] as BufferEncoding });
    },
    catch: (cause) =>
      new ToolExecutionError({ message: `File read failed: ${String(cause)}`, toolName: "file-read", cause }),
  });

const program = Effect.gen(function* () {
  const tools = yield* ToolService;
  const bus = yield* EventBus;
  const events = yield* bus.subscribe.pipe(
    Stream.take(6),
    Stream.runCollect,
    Effect.forkChild({ startImmediately: true }),
  );

  const engine = yield* searchEngine;
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "toolarsenal-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true })),
  );
  yield* Effect.promise(() => writeFile(join(folder, "notes.txt"), "Buy milk."));

  yield* tools.register(addTool, (args) => Effect.succeed((args["a"] as number) + (args["b"] as number)));
  yield* tools.register(webSearchTool, webSearch(`http://127.0.0.1:${(engine.address() as AddressInfo).port}`));
  yield* tools.register(fileReadTool, fileRead(folder));

  const call = (toolName: string, args: Record<string, unknown>) =>
    tools.execute({ toolName, arguments: args, agentId: "agent-1", sessionId: "session-1" });

  const sum = yield* call("add", { a: 2, b: 3 });
  console.log(sum.success, sum.result); // prints: true 5

  const found = yield* call("web-search", { query: "effect", maxResults: 2 });
  console.log(JSON.stringify(found.result));
  // prints: {"query":"effect","results":[{"title":"Effect documentation"},{"title":"Effect on GitHub"}]}

  const notes = yield* call("file-read", { path: "notes.txt" });
  console.log(notes.result); // prints: Buy milk.

  // What goes wrong is in the error channel, by its tag.
  const escaped = yield* Effect.flip(call("file-read", { path: "../secrets.txt" }));
  console.log(escaped._tag, escaped.message);
  // prints: ToolExecutionError File read failed: Error: Path traversal detected: ../secrets.txt

  const unknown = yield* call("nonexistent", {}).pipe(
    Effect.catchTag("ToolNotFoundError", ({ availableTools = [] }) => Effect.succeed(availableTools.join(", "))),
  );
  console.log("not found; there are:", unknown); // prints: not found; there are: add, file-read, web-search

  const invalid = yield* Effect.flip(call("add", { a: 2 }));
  assert.ok(invalid._tag === "ToolValidationError");
  console.log(invalid.parameter, "expected", invalid.expected, "received", invalid.received);
  // prints: b expected number received undefined

  // What a model gets: everything, or the few tools that fit.
  const everything = yield* tools.toFunctionCallingFormat();
  const [best] = yield* tools.retrieveTools("search the web for the latest news", { dialect: "anthropic", limit: 1 });
  console.log(everything.length, best?.name); // prints: 3 web_search

  return (yield* Fiber.join(events)).map(({ type }) => type);
});

const services = ToolServiceLive.pipe(Layer.provideMerge(EventBusLive), Layer.provide(IdentityServiceLive));
const types = await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(services)));
assert.deepEqual(types, [
  "tools.executed",
  "tools.executed",
  "tools.executed",
  "tools.failed",
  "tools.failed",
  "tools.failed",
]);
