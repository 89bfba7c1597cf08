import { describe, expect, it } from "vitest";
import { compileKernel, findCompiler } from "../../../../scripts/build-kernel.ts";
import { compileKernelModule, quantisationLimit, readKernel } from "./kernel.ts";

const compiler = await findCompiler();

describe.each(["plain", "relaxed"] as const)("the %s kernel", (kind) => {
  // because the compiler is a development dependency of this repository and may be left out.
  it.skipIf(compiler === undefined)(
    "is what its sources give (skipped where assemblyscript is not installed)",
    async () => {
      if (compiler === undefined) return;
      expect(Buffer.from(await compileKernel(compiler, kind)).equals(readKernel(kind))).toBe(true);
    },
  );

  it("asks nothing of its host and stays small", () => {
    expect(readKernel(kind).length).toBeLessThan(32_768);
    expect(() => compileKernelModule(readKernel(kind))).not.toThrow();
  });
});

describe("compileKernelModule", () => {
  it("says what to do where its bytes are damaged", () => {
    expect(() => compileKernelModule(Uint8Array.of(0, 1, 2))).toThrow(
      "Reinstall the package, or use Node 22.19 or newer.",
    );
  });
});

describe("quantisationLimit", () => {
  it("keeps sums of products inside 32 bits for the widest rows and uses 15 bits for narrow ones", () => {
    expect(quantisationLimit(32)).toBe(32_767);
    expect(quantisationLimit(1536)).toBe(10_922);
    expect(10_922 * 128 * 1536).toBeLessThan(2 ** 31);
  });
});
