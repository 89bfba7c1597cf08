/** The routes of an agent: its card at the current and the old path, JSON-RPC, and HTTP+JSON. */
export const A2A_ROUTES = [
  { path: "/.well-known/agent-card.json", open: true },
  { path: "/.well-known/agent.json", open: true },
  { path: "/a2a", drainsItself: true },
  { path: "/a2a/", exact: true, drainsItself: true },
  { path: "/a2a/v1/", drainsItself: true },
] as const;
