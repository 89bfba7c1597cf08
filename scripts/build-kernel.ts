/**
 * Compiles the WebAssembly kernel of the shipped embedder: `node scripts/build-kernel.ts` writes
 * src/adapters/embedders/kernel/kernel.wasm, `--check` only compares it with the compiled sources.
 * `--compiler FILE` takes the compiler's asc.js from elsewhere than this project's dependencies.
 */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

/** The folder of the kernel. */
export const KERNEL_FOLDER: URL = new URL("../src/adapters/embedders/kernel/", import.meta.url);

interface Compiler {
  main(
    options: readonly string[],
    host: {
      stdout: { write(text: string): void };
      stderr: { write(text: string): void };
      readFile(name: string): Promise<string | null>;
      writeFile(name: string, contents: Uint8Array | string): void;
    },
  ): Promise<{ readonly error: Error | null }>;
}

/** The compiler, or undefined if it is not installed. */
export async function findCompiler(specifier = "assemblyscript/asc"): Promise<Compiler | undefined> {
  try {
    return (await import(specifier)) as Compiler;
  } catch {
    return undefined;
  }
}

/** Compiles the kernel from its sources. */
export async function compileKernel(compiler: Compiler): Promise<Uint8Array> {
  let binary: Uint8Array | undefined;
  let messages = "";
  const { error } = await compiler.main(
    "index.ts --outFile kernel.wasm -O3 --converge --noAssert --runtime stub --enable simd --use abort= --initialMemory 1".split(
      " ",
    ),
    {
      stdout: { write: () => {} },
      stderr: { write: (text) => (messages += text) },
      // The sources end in .as so that TypeScript's own compiler and linters ignore them; this compiler requires .ts.
      readFile: async (name) => {
        if (!/^\w+\.ts$/.test(name)) return null;
        return readFile(new URL(`assembly/${name.replace(/\.ts$/, ".as")}`, KERNEL_FOLDER), "utf8").catch(() => null);
      },
      writeFile: (_name, contents) => {
        if (typeof contents !== "string") binary = contents;
      },
    },
  );
  if (error !== null || binary === undefined) {
    throw new Error(`The kernel does not compile:\n${messages}`, { cause: error });
  }
  return binary;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: "boolean" }, compiler: { type: "string" } } });
  const compiler = await findCompiler(values.compiler && pathToFileURL(values.compiler).href);
  if (compiler === undefined) {
    console.error("The compiler is not installed: npm install --save-dev assemblyscript@0.28.20");
    process.exit(1);
  }
  const target = new URL("kernel.wasm", KERNEL_FOLDER);
  const bytes = await compileKernel(compiler);
  if (values.check === true) {
    const same = Buffer.from(bytes).equals(await readFile(target));
    console.log(same ? "kernel.wasm is what its sources give." : "kernel.wasm differs: npm run build:kernel");
    process.exit(same ? 0 : 1);
  }
  await writeFile(target, bytes);
  console.log(`kernel.wasm: ${bytes.length} bytes`);
}
