import { describe, expect, it } from "vitest";
import { createCallAssembly } from "./read-call.ts";

describe("createCallAssembly", () => {
  it("tells made-up ids apart over a whole stream", () => {
    const assembly = createCallAssembly();
    assembly.open("0", { name: "a" });
    const first = assembly.close("0");
    const second = assembly.whole({ name: "b", arguments: {} });
    assembly.open("0", { name: "c" });
    expect([...first, second, ...assembly.closeAll()].map(({ id }) => id)).toEqual(["call_1", "call_2", "call_3"]);
  });

  it("closes only what belongs to a prefix, in the order it began", () => {
    const assembly = createCallAssembly();
    for (const key of ["0/1", "1/0", "0/0"]) assembly.open(key, { id: key, name: "a" });
    expect(assembly.closeAll("0/").map(({ id }) => id)).toEqual(["0/1", "0/0"]);
    expect(assembly.closeAll().map(({ id }) => id)).toEqual(["1/0"]);
  });

  it("keeps the first name and id, adds texts, and prefers them to the whole it began with", () => {
    const assembly = createCallAssembly();
    assembly.open("0", { id: "a", name: "ping" });
    assembly.open("0", { id: "", name: "" });
    assembly.set("0", {});
    assembly.add("0", '{"n"');
    assembly.add("0", ":1}");
    expect(assembly.close("0")).toEqual([
      { id: "a", call: { toolName: "ping", arguments: { n: 1 } }, rawArguments: '{"n":1}' },
    ]);
    expect([assembly.close("0"), assembly.has("0")]).toEqual([[], false]);
  });
});
