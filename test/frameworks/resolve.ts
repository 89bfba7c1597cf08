/**
 * Lets src/integrations and the readers of their tools find the frameworks, which only test/frameworks has installed. For Node: `node --import ./test/frameworks/resolve.ts`. Vitest
 * resolves imports itself, so vitest.config.ts has `frameworkImports`.
 */
import { registerHooks } from "node:module";
import type { Plugin } from "vite";

const HERE = new URL("./package.json", import.meta.url);

/** Whether an import of an integration is one of its framework. */
function isFramework(specifier: string, importer: string | undefined): boolean {
  const isPackage = /^(?:@[\w-]+\/)?[a-z][\w.-]*(?:\/|$)/.test(specifier) && !specifier.startsWith("node:");
  return isPackage && /\/(?:src\/integrations|dialects\/frameworks)\//.test(importer ?? "");
}

/** The same for Vitest. */
export const frameworkImports: Plugin = {
  name: "framework-imports",
  enforce: "pre",
  async resolveId(specifier, importer) {
    if (!isFramework(specifier, importer)) return null;
    return this.resolve(specifier, HERE.pathname, { skipSelf: true });
  },
};

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, isFramework(specifier, context.parentURL) ? { ...context, parentURL: HERE.href } : context),
});
