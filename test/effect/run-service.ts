import { Effect, Layer } from "effect";
import { ToolArsenal } from "../../src/arsenal.ts";
import {
  type EventBus,
  EventBusLive,
  IdentityService,
  IdentityServiceLive,
  type ToolDefinition,
  type ToolInput,
  type ToolService,
  toolServiceFrom,
} from "../../src/effect/index.ts";
import { createPrincipal } from "../../src/guard/principal.ts";

/** Agents may call the tools of MCP servers, and every other tool that needs no more. */
export const GRANTED: Layer.Layer<IdentityService> = Layer.succeed(IdentityService, {
  authorize: () => Effect.void,
  audit: () => Effect.void,
  principal: (id) => Effect.succeed(createPrincipal({ id, capabilities: ["file_system", "network_access"] })),
});

/** The arsenal logs nothing. */
export const QUIET = { telemetry: { enabled: false } } as const;

/** A tool with required, preset and enumerated parameters. */
export const WEB_SEARCH: ToolDefinition = {
  name: "web-search",
  description: "Search the web for information using a query string",
  parameters: [
    { name: "query", type: "string", description: "Search query", required: true },
    { name: "maxResults", type: "number", description: "Max results to return", required: false, default: 5 },
    { name: "order", type: "string", description: "How to sort", required: false, enum: ["date", "rank"] },
  ],
  category: "search",
  riskLevel: "low",
  timeoutMs: 10_000,
  requiresApproval: false,
  source: "builtin",
};

/** A call by an agent in a session. */
export const call = (toolName: string, args: Record<string, unknown> = {}): ToolInput => ({
  toolName,
  arguments: args,
  agentId: "agent-1",
  sessionId: "session-1",
});

/** Runs a program on an arsenal that is closed afterwards. */
export async function runService<A, E>(
  program: Effect.Effect<A, E, ToolService | EventBus>,
  {
    arsenal = new ToolArsenal(QUIET),
    identity = IdentityServiceLive,
  }: { readonly arsenal?: ToolArsenal; readonly identity?: Layer.Layer<IdentityService> } = {},
): Promise<A> {
  const layer = toolServiceFrom(arsenal).pipe(Layer.provideMerge(EventBusLive), Layer.provide(identity));
  try {
    return await Effect.runPromise(Effect.provide(program, layer));
  } finally {
    await arsenal.close();
  }
}

/** A handler that returns its arguments. */
export const echo = (args: Record<string, unknown>) => Effect.succeed(args);
