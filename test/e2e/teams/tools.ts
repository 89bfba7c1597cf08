import type { ToolArsenal } from "../../../src/index.ts";

/** Registers the tools of gateways that tests start as processes. */
export default function register(arsenal: ToolArsenal): void {
  arsenal.register({ name: "ping", description: "Answers at once.", parameters: {} }, () => "pong");
  arsenal.register(
    { name: "paid", description: "Costs a dime.", parameters: {}, cost: { monetaryCost: 0.1 } },
    () => "done",
  );
  arsenal.register(
    {
      name: "wait",
      description: "Reports its start and its end to an address, and ends only if the call is cancelled.",
      parameters: { type: "object", properties: { report: { type: "string" } }, required: ["report"] },
      timeoutMs: 300_000,
    },
    async ({ report }: { readonly report: string }, { signal }) => {
      const ended = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => ended.resolve(), { once: true });
      await fetch(`${report}/started`, { method: "POST" });
      await ended.promise;
      await fetch(`${report}/ended`, { method: "POST" });
    },
  );
}
