/** What a way into the program does with tools. One that runs them names the surfaces of the matrix that show it is guarded. */
export type Does = { readonly runs: readonly string[] } | "lists tools" | { readonly neither: string };

const BATCH = ["executeBatch, parallel", "executeBatch, sequential", "executeBatch, adaptive"];
const CODE = ["/mcp, run", "/mcp/toolsets/NAME, run"];
const AGGREGATE = [
  "/mcp, static, modern client",
  "/mcp, static, legacy client",
  "/mcp, hybrid",
  "/mcp, execute_tool",
  "/sse",
  "serve --stdio",
];
const TOOLSETS = [
  "/mcp/toolsets/NAME, modern client",
  "/mcp/toolsets/NAME, legacy client",
  "/mcp/toolsets/NAME, execute_tool",
];
const TRANSPARENT = ["/mcp/upstreams/NAME, modern client", "/mcp/upstreams/NAME, legacy client"];

const REST = ["POST /api/v1/execute", "POST /api/v1/execute, streamed", "POST /api/v1/batch"];
const JSON_RPC = ["/a2a, JSON-RPC", "/a2a, JSON-RPC, 0.3", "/a2a, tasks/send"];

const registers: Does = { neither: "It brings tools in; whoever does it has the program in hand." };
const aboutItself: Does = { neither: "It tells of the program itself and of no tool." };
const opens: Does = { neither: "It opens what is classified here by itself." };
const settles: Does = { neither: "It settles calls that wait and runs none: the caller makes the call again." };
const judges: Does = { neither: "It shows an operator what servers changed, and takes the answer." };
const operates: Does = { neither: "It is for operators: it looks at the gateway, or sets it, and runs no tool." };
const files: Does = { neither: "It works on files and runs nothing." };

const savesPrograms: Does = {
  neither: "It keeps a program that ran, for callers who may see its run; calls of the tool go through execute.",
};

/** The methods of `ToolArsenal`. */
export const LIBRARY: Readonly<Record<string, Does>> = {
  execute: { runs: ["execute"] },
  executeBatch: { runs: BATCH },
  runCode: { runs: ["runCode"] },
  retrieve: "lists tools",
  retrieveTools: "lists tools",
  getTool: "lists tools",
  listTools: "lists tools",
  exportTools: "lists tools",
  fromConfig: opens,
  start: registers,
  serve: opens,
  serveMcp: opens,
  serveA2a: opens,
  register: registers,
  addTool: registers,
  add: registers,
  addMcpServer: registers,
  addA2aAgent: registers,
  remove: registers,
  deleteTool: registers,
  sync: registers,
  approvals: settles,
  pins: judges,
  toolsets: { neither: "It names which tools are looked at together; what it names is looked at as everywhere." },
  toolCount: { neither: "A number, for whoever has the program in hand." },
  healthCheck: aboutItself,
  subscribe: { neither: "What happens, for whoever has the program in hand." },
  close: aboutItself,
};

/** What needs the process that the arsenal is in. The client throws instead. */
const EMBEDDED_ONLY = ["register", "fromConfig", "start", "serve", "serveMcp", "serveA2a"];

/** The methods of `toolarsenal/client`. */
export const CLIENT: Readonly<Record<string, Does>> = {
  ...Object.fromEntries(Object.entries(LIBRARY).filter(([name]) => !EMBEDDED_ONLY.includes(name))),
  execute: { runs: ["toolarsenal/client, execute", "toolarsenal/client, execute with progress"] },
  executeBatch: { runs: ["toolarsenal/client, executeBatch"] },
  runCode: { runs: ["toolarsenal/client, runCode"] },
  pages: "lists tools",
  scoreThreshold: aboutItself,
  remote: aboutItself,
  health: { neither: "How one tool fares, by an id that the asker knows." },
  info: aboutItself,
  ensembles: { neither: "What operators do with servers; calls go through execute." },
  registries: { neither: "It finds servers and writes them to the configuration." },
  policy: { neither: "It asks what would be decided, and runs nothing." },
  audit: { neither: "It reads what was done." },
  workflows: { neither: "It shows operators the steps of workflows; calls go through execute." },
  stats: operates,
  history: operates,
  tenants: operates,
  keys: operates,
  usage: operates,
  runs: { neither: "It shows callers their own programs, and operators those of their tenant." },
  programs: savesPrograms,
};

const signsIn: Does = {
  neither: "It sends a browser to the issuer and back; the token it brings is checked with every request.",
};

/** The paths of each surface in the manifest, and those of the host itself. */
export const SURFACE_ROUTES: Readonly<Record<string, Readonly<Record<string, Does>>>> = {
  mcp: {
    "/mcp": { runs: [...AGGREGATE.slice(0, 4), "/mcp, run"] },
    "/sse": { runs: ["/sse"] },
    "/sse/messages": { runs: ["/sse"] },
  },
  "mcp-upstreams": { "/mcp/upstreams/…": { runs: TRANSPARENT } },
  "mcp-toolsets": { "/mcp/toolsets/…": { runs: [...TOOLSETS, "/mcp/toolsets/NAME, run"] } },
  rest: {
    "/openapi.json": aboutItself,
    "/docs": aboutItself,
    "/api/v1": aboutItself,
    "/api/v1/…": { runs: [...REST, "POST /api/v1/programs"] },
  },
  a2a: {
    "/.well-known/agent-card.json": "lists tools",
    "/.well-known/agent.json": "lists tools",
    "/a2a": { runs: JSON_RPC },
    "/a2a/": { runs: JSON_RPC },
    "/a2a/v1/…": { runs: ["/a2a, HTTP+JSON", "/a2a, HTTP+JSON, 0.3"] },
  },
  registry: { "/registry/v0.1/…": "lists tools" },
  health: { "/healthz": aboutItself, "/readyz": aboutItself },
  metrics: { "/metrics": { neither: "It counts what happens; namespaces are named to operators only." } },
  ui: {
    "/ui": aboutItself,
    "/ui/…": aboutItself,
    "/ui/sign-in": signsIn,
    "/ui/sign-in/callback": signsIn,
    "/ui/sign-in/out": signsIn,
    "/ui/connections/callback": signsIn,
    "/ui/app-frame": aboutItself,
  },
  home: { "/": "lists tools" },
  host: {
    "/.well-known/oauth-protected-resource": aboutItself,
    "/.well-known/oauth-protected-resource/…": aboutItself,
  },
};

const signsInUpstream: Does = {
  neither: "It is a caller's own sign-in at a server; calls that use it go through execute.",
};
const manages: Does = { neither: "It changes the gateway, for callers with the role; the test of roles." };

/** The operations of the REST API. */
export const REST_API: Readonly<Record<string, Does>> = {
  execute: { runs: REST.slice(0, 2) },
  executeBatch: { runs: REST.slice(2) },
  runCode: { runs: ["POST /api/v1/programs"] },
  describeTools: "lists tools",
  listRuns: { neither: "It shows callers their own programs, and operators those of their tenant." },
  getRun: { neither: "It shows callers their own programs, and operators those of their tenant." },
  cancelRun: { neither: "It ends a program and its calls." },
  saveProgram: savesPrograms,
  listSavedPrograms: savesPrograms,
  getSavedProgram: savesPrograms,
  acceptProgram: manages,
  removeSavedProgram: savesPrograms,
  search: "lists tools",
  retrieveTools: "lists tools",
  exportTools: "lists tools",
  listTools: "lists tools",
  getTool: "lists tools",
  getToolHealth: "lists tools",
  listToolsets: { neither: "It names the toolsets that the caller may use." },
  getToolset: { neither: "It shows a toolset that the caller may use." },
  registerTool: manages,
  registerTools: manages,
  importTools: manages,
  deleteTool: manages,
  sync: manages,
  getInfo: aboutItself,
  checkHealth: aboutItself,
  listApprovals: settles,
  getApproval: settles,
  approveCall: settles,
  denyCall: settles,
  listPins: judges,
  acceptPin: judges,
  refusePin: judges,
  listEnsembles: operates,
  getEnsemble: operates,
  getEnsembleLog: operates,
  connectEnsemble: operates,
  disconnectEnsemble: operates,
  reloadEnsemble: operates,
  restartEnsemble: operates,
  listSourceTypes: operates,
  addEnsemble: manages,
  removeEnsemble: manages,
  listWorkflows: operates,
  getWorkflow: operates,
  searchRegistries: operates,
  getRegistryServer: operates,
  addRegistryServer: manages,
  listPolicyRules: operates,
  explainPolicy: operates,
  testPolicy: operates,
  reloadPolicy: operates,
  queryAudit: operates,
  verifyAudit: operates,
  followEvents: operates,
  getStats: operates,
  listHistory: operates,
  getTrace: operates,
  getCosts: operates,
  listTenants: operates,
  createTenant: manages,
  getTenant: operates,
  changeTenant: manages,
  removeTenant: manages,
  getQuotas: operates,
  listMembers: operates,
  setMember: manages,
  removeMember: manages,
  listKeys: operates,
  createKey: manages,
  rotateKey: manages,
  revokeKey: manages,
  getUsage: operates,
  exportUsage: operates,
  listConnections: signsInUpstream,
  signInConnection: signsInUpstream,
  signOutConnection: signsInUpstream,
};

/** The commands of the command line. */
export const COMMAND_LINE: Readonly<Record<string, Does>> = {
  call: { runs: ["toolarsenal call"] },
  run: { runs: ["toolarsenal run"] },
  programs: { runs: ["toolarsenal run"] },
  workflows: { runs: ["a workflow", "toolarsenal call"] },
  chat: { runs: ["toolarsenal chat"] },
  serve: { runs: ["serve --stdio"] },
  list: "lists tools",
  toolsets: "lists tools",
  search: "lists tools",
  export: "lists tools",
  demo: { neither: "It runs the functions of a catalog of its own, through execute, and nothing that is configured." },
  import: { neither: "It prints what a document or a server brings, which is not registered." },
  benchmark: { neither: "It searches a catalog of its own." },
  doctor: aboutItself,
  completion: aboutItself,
  setup: files,
  init: files,
  add: { neither: "It lists the tools of a server that is not configured yet, and writes files." },
  update: { neither: "It lists the tools of a server's new version, and writes files." },
  remove: files,
  outdated: files,
  login: { neither: "It signs in to one server." },
  convert: files,
  scan: files,
  eval: files,
  tune: files,
  keys: files,
  tenants: operates,
  policy: files,
  audit: files,
  why: { neither: "It shows the operator of the state what was asked and called before; nothing runs." },
  costs: { neither: "It adds up what calls cost." },
  top: { neither: "It shows the figures of a gateway." },
  approvals: settles,
  pins: judges,
};

const changesNothing: Does = { neither: "It sets how much a client is told, or ends what was allowed." };
const requests: Does = { neither: "It reads under the guard: the test of resources and prompts." };

/** The methods of MCP that each plane answers, beside those of opening and closing. */
export const AGGREGATE_PLANE: Readonly<Record<string, Does>> = {
  "tools/call": { runs: [...AGGREGATE, ...TOOLSETS, ...CODE] },
  "tools/list": "lists tools",
  "resources/list": "lists tools",
  "resources/templates/list": "lists tools",
  "prompts/list": "lists tools",
  "skills/list": "lists tools",
  "skills/get": requests,
  "resources/directory/read": requests,
  "resources/read": requests,
  "resources/subscribe": requests,
  "prompts/get": requests,
  "completion/complete": requests,
  "resources/unsubscribe": changesNothing,
  "logging/setLevel": changesNothing,
  ping: aboutItself,
};

export const TRANSPARENT_PLANE: Readonly<Record<string, Does>> = {
  ...AGGREGATE_PLANE,
  "tools/call": { runs: TRANSPARENT },
};

/** The tools that stand for others. */
export const META_TOOLS: Readonly<Record<string, Does>> = {
  execute_tool: { runs: ["/mcp, execute_tool", "/mcp/toolsets/NAME, execute_tool"] },
  find_relevant_tools: "lists tools",
  search: "lists tools",
  describe: "lists tools",
  run: { runs: CODE },
};
