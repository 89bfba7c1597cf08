import type { ToolArsenal } from "../../src/arsenal.ts";
import { bearerToken } from "../../src/adapters/identity/bearer-token.ts";
import { localOperator } from "../../src/guard/principal.ts";
import type { ServedGateway } from "../../src/serve/serve-arsenal.ts";

/** The callers of a pair of gateways, each with a bearer token. */
export const TOKENS = { ann: "token-of-ann-00000001", bob: "token-of-bob-00000002" };

export type Caller = keyof typeof TOKENS;

/** Two gateways on one state, in one process. */
export interface GatewayPair {
  readonly arsenals: readonly ToolArsenal[];
  readonly a: ServedGateway;
  readonly b: ServedGateway;
  close(): Promise<void>;
}

/** Serves two arsenals to Ann and Bob, in static mode. Give both the same state. */
export async function startPair(open: () => Promise<ToolArsenal>): Promise<GatewayPair> {
  const tokens = Object.entries(TOKENS).map(([id, token]) => ({
    token,
    principal: localOperator({ id, local: false }),
  }));
  const arsenals: ToolArsenal[] = [];
  const start = async (): Promise<ServedGateway> => {
    const arsenal = await open();
    arsenals.push(arsenal);
    return arsenal.serve({ mode: "static", port: 0, identity: bearerToken({ tokens }) });
  };
  const [a, b] = [await start(), await start()];
  return {
    arsenals,
    a,
    b,
    async close() {
      await Promise.all([a.close(), b.close()]);
      await Promise.all(arsenals.map((arsenal) => arsenal.close()));
    },
  };
}
