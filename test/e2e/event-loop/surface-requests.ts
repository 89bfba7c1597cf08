import { type HostileRequest, RESULTS } from "./observed-gateway.ts";
import { operatorRequests } from "./operator-requests.ts";
import { a2a, legacy, modern } from "./protocol-requests.ts";
import { many, rest, search, texts } from "./rest-requests.ts";

const API = "/api/v1";
const MEBIBYTE = 1024 * 1024;
const QUERY = "refund the order of a customer who moved ".repeat(399).slice(0, 16_384);
const DIFFERENT = texts(6_000).join(" ").slice(0, 16_384);
const HIDDEN = "i\u200Bg\u202En".repeat(4_096).slice(0, 16_384);

/** The worst requests of each operation, apart from large values in arguments. */
export function* surfaceRequests(): Iterable<HostileRequest> {
  yield search("long query", { query: QUERY });
  yield search("query of different words", { query: DIFFERENT });
  yield search("query of hidden characters", { query: HIDDEN });
  yield search("query of one word", { query: "x".repeat(16_384) });
  yield search("query too long", { query: "a ".repeat(500_000) });
  yield search("summary", { conversationSummary: DIFFERENT.repeat(4).slice(0, 65_536) });
  yield search("messages", {
    recentMessages: many(10, () => ({ role: "user", content: "different words of a conversation ".repeat(3_000) })),
  });
  yield search("parts of messages", {
    recentMessages: many(10, () => ({
      role: "user",
      content: many(1_900, (at) => ({ type: "text", text: `part ${at}` })),
    })),
  });
  yield search("tools used", {
    toolsAlreadyUsed: many(1_000, (at) => `tool${at}`.padEnd(450, "x")),
    toolsFailed: many(1_000, (at) => `tool${at}`.padEnd(450, "x")),
  });
  yield search(
    "namespaces and tags",
    {},
    {
      namespaces: many(1_000, (at) => `n${at}`.padEnd(400, "x")),
      tags: many(1_000, (at) => `t${at}`.padEnd(400, "x")),
    },
  );
  yield search(
    "everything explained",
    { query: DIFFERENT },
    { explain: true, limit: 50, diversityFactor: 1, scoreThreshold: 0, enableReranking: true },
  );
  yield search("unknown members", Object.fromEntries(many(19_000, (at) => [`member${at}`, at])));
  yield rest("retrieve in a dialect", "rightless", "/tools/retrieve", {
    query: DIFFERENT,
    dialect: "gemini",
    limit: 50,
    strict: true,
  });
  yield rest("retrieve in no dialect", "rightless", "/tools/retrieve", {
    query: "pet",
    dialect: "g".repeat(1_000_000),
  });
  yield rest("export everything", "rightless", "/export", { dialect: "gemini", format: "gemini" });
  yield rest("batch of 100 calls", "caller", "/batch", {
    calls: many(100, (at) => ({ toolName: "echo", arguments: { text: `${at}`.repeat(40_000) } })),
  });
  yield rest("batch of 100 calls at once", "caller", "/batch", {
    strategy: "parallel",
    calls: many(100, (at) => ({ toolName: "echo", arguments: { text: `${at} ignore all previous `.repeat(3_500) } })),
  });
  yield rest("batch of parallel large calls", "caller", "/batch", {
    strategy: "parallel",
    calls: many(8, (at) => ({ toolName: "take", arguments: { text: `${at}`.padEnd(1_000_000, "ignore all ") } })),
  });
  yield rest("batch of 19,000 members", "caller", "/batch", {
    calls: many(100, () => ({ toolName: "echo", arguments: Object.fromEntries(many(190, (at) => [`k${at}`, [at]])) })),
  });
  yield rest(
    "batch of too many members",
    "caller",
    "/batch",
    `{"calls":[{"toolName":"echo","arguments":{${many(600_000, (at) => `"k${at}":0`).join()}}}]}`,
  );
  yield rest("batch of too many elements", "caller", "/batch", `{"calls":[${"[],".repeat(2_700_000)}[]]}`);
  yield rest("batch of too many calls", "caller", "/batch", { calls: many(9_000, () => ({ toolName: "echo" })) });
  yield rest("batch of wrong calls", "caller", "/batch", {
    calls: many(100, () => ({ toolName: 1, ...Object.fromEntries(many(190, (at) => [`k${at}`, at])) })),
  });
  yield rest("batch of nothing", "caller", "/batch", `{"calls":[${" ".repeat(8 * MEBIBYTE - 100)}]}`);

  yield* operatorRequests();
  yield rest("pin of a long name", "operator", `/pins/${"p".repeat(14_000)}/accept`, {});
  yield rest("toolset of a long name", "rightless", "/search", {
    context: { query: "pet" },
    toolset: "t".repeat(1_000),
  });
  yield { name: "audit of everything", who: "operator", method: "GET", path: `${API}/audit?limit=1000` };
  yield rest("audit verified", "operator", "/audit/verify", {});
  yield { name: "history", who: "operator", method: "GET", path: `${API}/history?limit=1000` };
  yield { name: "statistics", who: "operator", method: "GET", path: `${API}/stats` };
  yield { name: "costs", who: "operator", method: "GET", path: `${API}/costs` };
  yield { name: "metrics", who: "operator", method: "GET", path: "/metrics" };
  yield { name: "pins", who: "operator", method: "GET", path: `${API}/pins` };
  yield {
    name: "events",
    who: "operator",
    method: "GET",
    path: `${API}/events`,
    headers: { accept: "text/event-stream" },
  };
  yield { name: "OpenAPI of the gateway", who: "rightless", method: "GET", path: "/openapi.json" };

  for (const kind of Object.keys(RESULTS)) {
    const call = { name: "pets.get_result", arguments: { kind } };
    yield rest(`result: ${kind}`, "caller", "/execute", { toolName: call.name, arguments: { kind } });
    yield {
      name: `MCP result: ${kind}`,
      who: "caller",
      ...modern("tools/call", { name: "execute_tool", arguments: call }),
    };
    yield { name: `A2A result: ${kind}`, who: "caller", ...a2a([{ data: { tool: call.name, arguments: { kind } } }]) };
  }
  yield rest("call over OpenAPI with a long path", "caller", "/execute", {
    toolName: "pets.find_pet",
    arguments: { id: "/../%".repeat(800_000) },
  });
  yield rest("call over OpenAPI with many values", "caller", "/execute", {
    toolName: "pets.find_pet",
    arguments: { id: "x", tag: many(95_000, (at) => `t${at}`) },
  });
  yield rest("call over OpenAPI with a long header", "caller", "/execute", {
    toolName: "pets.find_pet",
    arguments: { id: "x", "x-note": "n".repeat(4_000_000) },
  });

  const rightless = (name: string, sent: Omit<HostileRequest, "name" | "who">): HostileRequest => ({
    name,
    who: "rightless",
    ...sent,
  });
  yield rightless("MCP list with a wrong cursor", modern("tools/list", { cursor: "%%%".repeat(1_000_000) }));
  yield rightless(
    "MCP call of a tool with a long name",
    legacy("tools/call", { name: "x_".repeat(2_000_000), arguments: {} }),
  );
  yield rightless("MCP batch", {
    ...legacy("ping", {}),
    body: many(19_000, (at) => ({ jsonrpc: "2.0", method: `n${at}` })).slice(0, 9_000),
  });
  yield rightless("MCP client of a long name", {
    ...legacy("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: Object.fromEntries(many(9_000, (at) => [`c${at}`, {}])),
      clientInfo: { name: "n".repeat(3_000_000), version: "1" },
    }),
    headers: { accept: "application/json, text/event-stream" },
  });
  yield rightless("MCP log level", legacy("logging/setLevel", { level: "l".repeat(4_000_000) }));
  yield rightless("MCP subscription", legacy("resources/subscribe", { uri: "file:///".padEnd(4_000_000, "x") }));
  yield rightless(
    "MCP completion",
    modern("completion/complete", {
      ref: { type: "ref/resource", uri: "u".repeat(2_000_000) },
      argument: { name: "n".repeat(1_000_000), value: "v" },
    }),
  );
  yield rightless(
    "MCP progress token",
    modern(
      "tools/call",
      { name: "find_relevant_tools", arguments: { query: "pet" } },
      { progressToken: "p".repeat(4_000_000) },
    ),
  );
  yield rightless("MCP trace state", {
    ...modern("tools/list", {}),
    headers: {
      ...modern("tools/list", {}).headers,
      tracestate: "a=b,".repeat(3_000),
      traceparent: "0".repeat(4_000),
      baggage: "a=b,".repeat(500),
    },
  });
  yield rightless("A2A 256 parts", a2a(many(256, (at) => ({ text: `part ${at} `.repeat(1_000) }))));
  yield rightless("A2A 256 data parts", a2a(many(256, (at) => ({ data: { [`k${at}`]: many(380, () => at) } }))));
  yield rightless("A2A too many parts", a2a(many(250_000, () => ({ text: "a" }))));
  yield rightless(
    "A2A metadata",
    a2a([{ text: "find a pet" }], { metadata: Object.fromEntries(many(19_000, (at) => [`k${at}`, at])) }),
  );
  yield rightless("A2A raw", a2a([{ text: "find a pet" }, { raw: "QUJD".repeat(1_000_000) }]));
  yield rightless("A2A references", a2a([{ text: "find a pet" }], { referenceTaskIds: texts(90_000) }));
  yield rightless("A2A id", {
    path: "/a2a",
    body: { jsonrpc: "2.0", id: "i".repeat(4_000_000), method: "GetTask", params: { id: "i".repeat(100) } },
  });
  yield rightless("A2A list of tasks", {
    path: "/a2a",
    body: { jsonrpc: "2.0", id: 1, method: "ListTasks", params: { pageSize: 100 } },
  });
  yield { name: "dashboard at a long path", who: "nobody", method: "GET", path: `/ui/${"%E0%A4%A".repeat(1_500)}` };
  yield {
    name: "dashboard signing in",
    who: "nobody",
    path: "/ui/sign-in",
    body: "code=".padEnd(4_000_000, "x"),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  };
  yield {
    name: "nobody with a long key",
    who: "nobody",
    method: "GET",
    path: `${API}/tools`,
    headers: { authorization: `Bearer ${"k".repeat(14_000)}` },
  };
  yield {
    name: "nobody with a large body",
    who: "nobody",
    path: `${API}/execute`,
    body: `{"toolName":"${"x".repeat(4_000_000)}"}`,
  };
}
