import { ToolArsenal } from "../arsenal.ts";
import { clip } from "../guard/scan/finding.ts";

/** A text to rank. `fallback` is used if `words` is not a valid description of a tool. */
export interface RankedText {
  readonly words: string;
  readonly fallback: string;
}

/** Ranks texts that are not tools with the arsenal's own retrieval, best first. `score` is the semantic score, in [0, 1]. */
export async function rankTexts(
  texts: readonly RankedText[],
  query: string,
  options: { readonly limit: number; readonly signal?: AbortSignal | undefined },
): Promise<readonly { readonly index: number; readonly score: number }[]> {
  if (texts.length === 0) return [];
  const { limit, signal } = options;
  await using arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    embedder: { tier: "static" },
    security: { scan: { definitions: "off" }, pins: "off", requireConfirmation: [] },
    routing: { refuse: "never", scoreThreshold: 0, enableMmr: false },
  });
  const indexOf = new Map<string, number>();
  for (const [index, { words, fallback }] of texts.entries()) {
    const name = `text_${index}`;
    indexOf.set(name, index);
    const register = (description: string): unknown =>
      arsenal.register({ name, namespace: "texts", description }, () => "");
    try {
      register(clip(words.replaceAll(/[<>]/g, " ")));
    } catch {
      register(fallback);
    }
  }
  const { tools } = await arsenal.retrieve({
    context: { query },
    limit: Math.min(limit, 50),
    ...(signal && { signal }),
  });
  return tools.map(({ tool, semanticScore }) => ({ index: indexOf.get(tool.name) ?? 0, score: semanticScore }));
}
