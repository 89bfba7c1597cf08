import { defineConfig, type UserConfig } from "vite";

/** Builds the dashboard into `dist/ui` of the package. The gateway serves it at `/ui/`. */
const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  base: "/ui/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/ui",
    emptyOutDir: true,
    target: "es2022",
    // The page's Content-Security-Policy allows no inline code.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
});

export default config;
