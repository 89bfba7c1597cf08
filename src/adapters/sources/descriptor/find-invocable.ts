import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf, nearest, showValue } from "../../../errors/show-value.ts";
import type { Invocable, Invocables } from "./invocable.ts";
import type { InvokerDescriptor } from "./read-descriptor.ts";

/**
 * Returns the function of an invoker, from the module that its file names or from the registered functions. Undefined if no function is registered
 * under the name. Throws TOOL_INVALID if the module cannot be used.
 */
export async function findInvocable(
  file: string,
  { name, handler = name, refuse }: InvokerDescriptor,
  registered: Invocables,
  readText: (path: string) => Promise<string>,
): Promise<Invocable | undefined> {
  // `./read-file.ts#readFile` is a module; `read_file` is a name.
  if (!/[/#]|\.[cm]?[jt]s$/.test(handler)) return Object.hasOwn(registered, handler) ? registered[handler] : undefined;
  const [path = "", exported = "default"] = handler.split("#");
  const module = await load(resolve(dirname(file), path), readText).catch((error: unknown) => {
    // Node appends the path of this file, which does not help the reader.
    const reason = messageOf(error).replace(/ imported from .*/, "");
    return refuse(["invoker", "handler"], `${showValue(handler)} cannot be loaded: ${reason}`, "Check the module.");
  });
  const found = module[exported];
  if (typeof found === "function") return found as Invocable;
  const functions = Object.keys(module).filter((key) => typeof module[key] === "function");
  const near = nearest(exported, functions) ?? functions[0];
  const fix = near === undefined ? "Export a function (context, arguments)." : `Did you mean "${path}#${near}"?`;
  return refuse(["invoker", "handler"], `${showValue(handler)} is not a function that the module exports`, fix);
}

/** The source text of each module when it was last loaded. Shared by the whole process, as Node's module cache is. */
const loaded = new Map<string, { readonly text: string; readonly version: number }>();

/** Loads a module, again if its own text changed. Changed imports of the module are not reloaded. */
async function load(path: string, readText: (path: string) => Promise<string>) {
  const text = await readText(path);
  const last = loaded.get(path) ?? { text, version: 0 };
  const version = last.text === text ? last.version : last.version + 1;
  loaded.set(path, { text, version });
  const { href } = pathToFileURL(path);
  return (await import(version === 0 ? href : `${href}?version=${version}`)) as Readonly<Record<string, unknown>>;
}
