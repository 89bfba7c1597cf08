import { defaultCache } from "../../adapters/embedders/cache-folder.ts";
import type { TierName } from "../../adapters/embedders/shipped-tiers.ts";
import { internalsOf, ToolArsenal } from "../../arsenal.ts";
import type { RoutingConfig } from "../../config/config.ts";
import type { SetTool } from "../../eval/read-set.ts";
import { setSource } from "../../eval/set-source.ts";
import type { Terminal } from "../command.ts";
import { withEmbeddingProgress } from "../terminal/progress.ts";

/** Opens an indexed arsenal with the tools of an evaluation set. The caller must close it. */
export async function openSetArsenal(
  tools: readonly SetTool[],
  { routing, tier }: { readonly routing: RoutingConfig; readonly tier: TierName | undefined },
  { err, environment, signal }: Terminal,
) {
  const arsenal = new ToolArsenal({
    routing,
    embedder: { cache: defaultCache(environment), ...(tier === undefined ? {} : { tier }) },
    telemetry: { enabled: false },
  });
  try {
    /** Why an embedder does not answer. */
    const failures: string[] = [];
    arsenal.subscribe((event) => {
      if (event.name === "embedder-failed") failures.push(event.data.message);
    });
    await arsenal.add(setSource(tools));
    await arsenal.sync({ signal });
    await withEmbeddingProgress(err, tools.length, (progress) => internalsOf(arsenal).settled({ signal, ...progress }));
    return { arsenal, failures };
  } catch (error) {
    await arsenal.close();
    throw error;
  }
}
