import { registerHooks } from "node:module";

/** Preloaded by imports.test.ts: prints the npm packages whose files the program loads, once it is done. */
const packages = new Set<string>();

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const name = /.*\/node_modules\/(?<name>(?:@[^/]+\/)?[^/]+)\//.exec(resolved.url)?.groups?.["name"];
    if (name !== undefined) packages.add(name);
    return resolved;
  },
});

process.on("exit", () => process.stdout.write(JSON.stringify([...packages].sort())));
