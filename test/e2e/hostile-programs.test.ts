import { afterAll, describe, expect, it } from "vitest";
import { ToolArsenal } from "../../src/arsenal.ts";
import { createPrincipal } from "../../src/guard/principal.ts";
import { some } from "../kit/effort.ts";
import { HOSTILE_PROGRAMS, type HostileProgram } from "./hostile/hostile-programs.ts";

const ran: string[] = [];
const echo = {
  description: "Repeats a text.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
} as const;
const arsenal = new ToolArsenal({
  embedder: { tier: "lexical" },
  telemetry: { enabled: false },
  programs: { cpuMs: 100, timeoutS: 20, calls: 50 },
  policy: {
    sees: (tool) => tool.namespace !== "secret",
    decide: ({ tool }) =>
      tool.namespace === "closed" ? { effect: "deny", rule: "shut", reason: "It is shut." } : { effect: "allow" },
  },
});
for (const namespace of ["open", "closed", "secret"])
  arsenal.register({ name: "echo", namespace, ...echo }, ({ text }) => (ran.push(namespace), text));
arsenal.register({ name: "fail", namespace: "open", description: "Fails.", parameters: { type: "object" } }, () => {
  throw new Error("broken");
});
const ITEMS = { items: [1, 2] };
arsenal.register(
  { name: "list_items", namespace: "open", description: "Lists.", parameters: { type: "object" } },
  () => ITEMS,
);
afterAll(() => arsenal.close());

/** Programs that change the object of a result, which this process still has. */
const ON_RESULTS: readonly HostileProgram[] = [
  {
    what: "a getter on a result",
    code: "Object.defineProperty(await open.list_items(), 'items', { get: () => 'forged' }); (await open.list_items()).items",
    value: [1, 2],
  },
  {
    what: "a result that is changed for the next call",
    code: "(await open.list_items()).items.push(3); (await open.list_items()).items",
    value: [1, 2],
  },
];

const BOT = createPrincipal({ id: "bot", scopes: ["*"] });

describe("a hostile program", () => {
  it("comes in more than sixty kinds", () => {
    expect(HOSTILE_PROGRAMS.length).toBeGreaterThanOrEqual(60);
  });

  it.each(some([...HOSTILE_PROGRAMS, ...ON_RESULTS], 45))("gains nothing: $what", async ({ code, value, error }) => {
    const result = await arsenal.runCode({ code, principal: BOT });
    if (error !== undefined) {
      expect(result).toMatchObject({ status: "failure", error: { message: expect.stringMatching(error) } });
    } else if (value !== "(anything)") expect(result).toMatchObject({ status: "success", value });
    // Nothing of it is left: neither in this process, nor in the next program.
    expect(ran.filter((namespace) => namespace !== "open")).toEqual([]);
    expect(({} as { readonly polluted?: boolean }).polluted).toBeUndefined();
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
    expect(await arsenal.runCode({ code: "await open.echo({ text: 'fine' })", principal: BOT })).toMatchObject({
      value: "fine",
    });
  });
});
