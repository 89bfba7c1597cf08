/** The fields of package.json that the bundle repeats. */
export interface PackageFields {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly keywords: readonly string[];
  readonly engines: { readonly node: string };
}

/** The program in the bundle, from its root. */
export const ENTRY_POINT = "node_modules/toolarsenal/dist/cli/main.js";

/** The manifest of our own bundle: `toolarsenal serve --stdio` with the configuration that the user chooses. */
export function bundleManifest({ name, version, description, license, keywords, engines }: PackageFields): object {
  return {
    manifest_version: "0.3",
    name,
    display_name: "ToolArsenal",
    version,
    description,
    author: { name: "The ToolArsenal authors" },
    license,
    keywords,
    tools_generated: true,
    server: {
      type: "node",
      entry_point: ENTRY_POINT,
      mcp_config: {
        command: "node",
        args: [`\${__dirname}/${ENTRY_POINT}`, "serve", "--stdio", "--config", "${user_config.config}"],
        env: {},
      },
    },
    user_config: {
      config: {
        type: "file",
        title: "Configuration",
        description: "Your arsenal.yaml. Write one with: npx toolarsenal setup",
        required: true,
      },
    },
    compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: engines.node } },
  };
}
