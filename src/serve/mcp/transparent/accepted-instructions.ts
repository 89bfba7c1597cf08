import type { ServerDescription } from "../../../mcp/connection.ts";
import type { Pins } from "../../../guard/pins/pins.ts";

/** What a server says of itself, with the instructions that were accepted in place of those it gives now. */
export async function withAcceptedInstructions(
  { instructions: offered, ...server }: ServerDescription,
  upstream: string,
  pins: Pick<Pins, "instructions"> | undefined,
): Promise<ServerDescription> {
  const instructions = pins === undefined ? offered : await pins.instructions(upstream, offered);
  return instructions === undefined ? server : { ...server, instructions };
}
