import { fixable } from "../errors/arsenal-error.ts";

/**
 * Imports the framework of an integration, which is not a dependency of ours. Throws LIBRARY_MISSING with the install line if it is not installed.
 *
 * @example
 * const ai = await importFramework("ai-sdk", "npm install ai", () => import("ai"));
 */
export async function importFramework<Module>(
  integration: string,
  install: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if ((cause as { readonly code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw fixable("LIBRARY_MISSING", `toolarsenal/integrations/${integration} needs its framework:`, install, {
      cause,
    });
  }
}
