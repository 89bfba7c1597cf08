import { fixable } from "../../../errors/arsenal-error.ts";
import { showValue } from "../../../errors/show-value.ts";
import { createEgress } from "../../../guard/egress/egress.ts";
import { createSecrets } from "../../../guard/secrets/secrets.ts";
import type { OfferedTool, Source } from "../../../register/source.port.ts";
import { sandboxes } from "../../sandboxes/manifest.ts";
import type { InputOf } from "../../../tool/shape/shape.ts";
import type { Reach, SourceSurroundings } from "../source-adapter.ts";
import { codeExecute } from "./code-execute.ts";
import { fileTools } from "./file-tools.ts";
import { httpGet } from "./http-get.ts";
import { BUILTIN_TOOLS, type BuiltinParts, type BuiltinSettings, type BuiltinTool, type config } from "./settings.ts";
import { webSearch } from "./web-search.ts";

/**
 * Tools that come with the package: search the web, read and write files, fetch an address, run code.
 *
 * @example
 * await arsenal.add(builtinSource({ tools: ["file-read"], files: { roots: ["./docs"] } }));
 */
export function builtinSource(settings: BuiltinSettings = {}, parts: BuiltinParts = {}): Source {
  const { name = "builtin", tools = BUILTIN_TOOLS } = settings;
  const unknown = tools.find((tool) => !BUILTIN_TOOLS.includes(tool));
  if (unknown !== undefined) {
    const problem = `${showValue(unknown)} is not a built-in tool.`;
    const fix = `Use some of ${BUILTIN_TOOLS.join(", ")}.`;
    throw fixable("CONFIG_INVALID", problem, fix, { field: "tools", value: unknown });
  }
  const { egress = createEgress(), secrets = createSecrets() } = parts;
  const sandbox = settings.code?.sandbox?.name ?? "isolate";
  const files = fileTools(settings.files, parts.ownFiles);
  const offered: Readonly<Record<BuiltinTool, OfferedTool>> = {
    "web-search": webSearch({ egress, secrets }, settings.webSearch),
    "file-read": files.read,
    "file-write": files.write,
    "http-get": httpGet(egress, settings.http),
    "code-execute": codeExecute(settings.code),
  };
  return {
    name,
    kind: "builtin",
    // The package defines these tools, so their annotations are reliable.
    trustsAnnotations: true,
    // Whether other sandboxes limit network access depends on the machine and its Node.
    guardsEgress: !tools.includes("code-execute") || sandbox === "isolate",
    connect: async ({ signal }) => signal.throwIfAborted(),
    list: async () => [...new Set(tools)].map((tool) => offered[tool]),
    async disconnect() {
      if (parts.egress === undefined) egress.close();
    },
  };
}

export async function create(settings: InputOf<typeof config>, surroundings: SourceSurroundings): Promise<Source> {
  const { tools = BUILTIN_TOOLS, files = {}, code, ...others } = settings;
  const isFileTool = (tool: string): boolean => tool === "file-read" || tool === "file-write";
  if (tools.some(isFileTool) && (files.roots ?? []).length === 0) {
    // The file tools have no default folder: it could contain the configuration itself.
    const fix = "Name the folders it may use, such as [./docs].";
    throw fixable("CONFIG_INVALID", "files.roots is empty, but a file tool is enabled.", fix, {
      field: "files.roots",
    });
  }
  const isolated = tools.includes("code-execute") && code?.sandbox !== undefined;
  const sandbox = isolated ? (await sandboxes[code.sandbox]()).create() : undefined;
  const { egress, secrets } = surroundings;
  const parts = { egress, secrets, ownFiles: await surroundings.ownFiles() };
  return builtinSource({ ...others, tools, files, ...(sandbox && { code: { sandbox } }) }, parts);
}

export function reach({ tools = BUILTIN_TOOLS, files = {}, webSearch: search = {} }: InputOf<typeof config>): Reach {
  return {
    reads: files.roots ?? [],
    writes: tools.includes("file-write") ? (files.roots ?? []) : [],
    commands: tools.includes("code-execute") ? ["code-execute"] : [],
    addresses: search.url === undefined ? [] : [search.url],
    secrets: tools.includes("web-search"),
  };
}

export { config } from "./settings.ts";
