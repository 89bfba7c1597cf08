import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { QuickJSSyncVariant, QuickJSWASMModule } from "quickjs-emscripten-core";

// The project's type libraries do not include WebAssembly, so the used parts are declared here.
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => InterpreterMemory;
}

/** A WebAssembly.Memory. */
export interface InterpreterMemory {
  readonly buffer: ArrayBuffer;
}
const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };

const PAGE_BYTES = 64 * 1024;

/** The initial size of the interpreter's memory, in pages. */
const INITIAL_PAGES = 256;

const EMPTY_PAGE = Buffer.alloc(PAGE_BYTES);

let compiled: Promise<object> | undefined;

/** Compiles QuickJS to a WebAssembly.Module, once for all jobs of the process. */
export function compileInterpreter(): Promise<object> {
  compiled ??= readFile(fileURLToPath(import.meta.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"))).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  return compiled;
}

/** Creates the memory of an interpreter. It cannot grow past the job's limit, whatever the interpreter does. */
export function createMemory(memoryBytes: number): InterpreterMemory {
  const maximum = INITIAL_PAGES + Math.ceil(memoryBytes / PAGE_BYTES);
  return new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum });
}

/**
 * Copies the used pages of a memory. The returned function restores the whole memory, so nothing written since remains. It returns false if the
 * memory has grown: such a memory must be dropped, because memories never shrink.
 */
export function keepMemory(memory: InterpreterMemory): () => boolean {
  const { byteLength } = memory.buffer;
  const pageAt = (at: number): Buffer => Buffer.from(memory.buffer, at, PAGE_BYTES);
  const kept = new Map<number, Buffer>();
  for (let at = 0; at < byteLength; at += PAGE_BYTES)
    if (!pageAt(at).equals(EMPTY_PAGE)) kept.set(at, Buffer.from(pageAt(at)));
  return () => {
    if (memory.buffer.byteLength !== byteLength) return false;
    for (let at = 0; at < byteLength; at += PAGE_BYTES) {
      const [page, before] = [pageAt(at), kept.get(at) ?? EMPTY_PAGE];
      // A page that was never written needs no physical memory.
      if (!page.equals(before)) page.set(before);
    }
    return true;
  };
}

export async function loadInterpreter(interpreter: object, memory: InterpreterMemory): Promise<QuickJSWASMModule> {
  const [{ newQuickJSWASMModuleFromVariant, newVariant }, loaded] = await Promise.all([
    import("quickjs-emscripten-core"),
    import("@jitl/quickjs-wasmfile-release-sync"),
  ]);
  // The types describe the CommonJS build, in which the default export is one level deeper.
  const variant = loaded.default as unknown as QuickJSSyncVariant;
  const options = { wasmModule: interpreter, wasmMemory: memory } as Parameters<typeof newVariant>[1];
  return newQuickJSWASMModuleFromVariant(newVariant(variant, options));
}
