import { ToolArsenal } from "../../arsenal.ts";

/** Measures what the engine adds to a call of a tool that does nothing, against calling its function. Milliseconds a call. */
export async function measureEngine(calls: number, signal: AbortSignal) {
  await using arsenal = new ToolArsenal({
    telemetry: { enabled: false },
    security: { maxRequestsPerMinute: 1_000_000 },
  });
  const handler = ({ text }: { readonly text?: string }): string | undefined => text;
  const schema = { type: "object", properties: { text: { type: "string" } } } as const;
  arsenal.register({ name: "nothing", description: "Returns what it was given.", parameters: schema }, handler);
  const call = { toolName: "nothing", arguments: { text: "hello" } };
  const time = async (run: () => unknown): Promise<number> => {
    const started = performance.now();
    for (let count = 0; count < calls; count++) await run();
    signal.throwIfAborted();
    return (performance.now() - started) / calls;
  };
  await time(() => arsenal.execute(call)); // warm-up
  const directMs = await time(async () => handler({ text: "hello" }));
  const engineMs = await time(() => arsenal.execute(call));
  return { directMs, engineMs, overheadMs: engineMs - directMs };
}
