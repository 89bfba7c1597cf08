import type { McpEndpointOptions } from "../../src/serve/mcp/http-endpoint.ts";
import { createReplica, type Replica } from "../../src/serve/replica.ts";
import { type SampleEndpoint, serveSample } from "./sample-endpoint.ts";
import { createSamplePlane, type SamplePlane, type SampleTool } from "./sample-plane.ts";
import { type SharedMemory, sharedMemory } from "./shared-memory.ts";

/** One of several gateways that serve the same tools. */
export interface Gateway extends SampleEndpoint {
  readonly plane: SamplePlane;
  readonly replica: Replica;
}

/** Two gateways on one state. */
export interface TwoGateways {
  readonly a: Gateway;
  readonly b: Gateway;
  readonly state: SharedMemory;
  close(): Promise<void>;
}

/** Serves the sample plane, with these tools, at two addresses as if by two processes. */
export async function twoGateways(
  tools: Readonly<Record<string, SampleTool>> = {},
  options: Partial<McpEndpointOptions> = {},
): Promise<TwoGateways> {
  const state = sharedMemory(options.clock);
  const start = async (): Promise<Gateway> => {
    const replica = await createReplica(state, options);
    const plane = createSamplePlane(tools);
    return { ...(await serveSample(plane, { ...options, replica })), plane, replica };
  };
  const [a, b] = [await start(), await start()];
  return {
    a,
    b,
    state,
    async close() {
      await Promise.all([a, b].map((gateway) => gateway.close()));
      await Promise.all([a, b].map(({ replica }) => replica.close()));
    },
  };
}
