import { statSync } from "node:fs";
import { internalsOf } from "../../arsenal.ts";
import { auditType, stateType } from "../../config/load/chosen-adapters.ts";
import { count } from "../../errors/show-value.ts";
import { toPredicate } from "../../tool/tool-filter.ts";
import { configuredToolsets } from "../../wire/guard.ts";
import { namedIds } from "../commands/toolsets.ts";
import type { StartedGateway } from "./checks.ts";
import { failed, type Finding, ok, warning } from "./finding.ts";

/** Checks the parts of the arsenal that every call needs. */
export async function checkHealth({ arsenal }: StartedGateway): Promise<readonly Finding[]> {
  return Object.entries(await arsenal.healthCheck()).map(([check, works]) => {
    const fix = `Check the settings of the ${check}, and that this user may write it.`;
    return { ...(works ? ok(check, "works") : failed(check, "cannot be read or written", fix)), general: true };
  });
}

/** Reports state in memory if the strict policy needs it after a restart. */
export function checkMemory({ configured: { config } }: StartedGateway): readonly Finding[] {
  const { security, state, audit } = config;
  if (security.policy !== "strict") return [];
  return [
    ...(stateType(state) === "memory" ? [warning("state", "pins end with the process", "Set state.file.")] : []),
    ...(auditType(audit) === undefined ? [warning("audit", "calls are not recorded", "Set audit.file.")] : []),
  ];
}

/** Reports missing folders that are open to tools: every call that uses them fails. */
export async function checkRoots({ configured: { config } }: StartedGateway): Promise<readonly Finding[]> {
  const { openFolders } = await import("../../config/load/own-files.ts");
  return openFolders(config)
    .filter((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    .map((folder) => failed("files", `${folder} is open to tools, but is not a folder`, `Run: mkdir -p ${folder}`));
}

/** Reports folders that are open to tools and contain the gateway's own files. */
export async function checkFolders({ configured: { config } }: StartedGateway): Promise<readonly Finding[]> {
  const { foldersWithOwnFiles } = await import("../../config/load/own-files.ts");
  const fix = "Give tools a separate folder, such as ./work. Tools can never read or write the gateway's own files.";
  return foldersWithOwnFiles(config).map(({ folder, files }) => {
    const named = files.length > 3 ? [...files.slice(0, 3), "…"] : files;
    return warning("files", `${folder} contains the gateway's own files: ${named.join(", ")}`, fix);
  });
}

/** Counts the tools, and lists those that wait for acceptance. */
export async function checkTools({ arsenal }: StartedGateway): Promise<readonly Finding[]> {
  const { pins, toolCount } = arsenal;
  const found = (await pins?.list()) ?? [];
  const conflicts = found.filter(({ state }) => state === "conflict").length;
  const refused = found.filter(({ state, refusedBy }) => state !== "conflict" && refusedBy !== undefined).length;
  const waiting = found.filter(({ state }) => state !== "accepted").length - conflicts - refused;
  const look =
    "Review them with: toolarsenal pins list --diff. Then accept them with: toolarsenal pins accept ID, or --all";
  const other = `another process changed ${count(conflicts, "tool")} in the catalog after they were accepted`;
  const reload =
    "Review the differences with: toolarsenal pins list --diff. Then reload the server, so that it writes its own definition again.";
  const name =
    "Add MCP servers under `mcpServers:`, OpenAPI documents under `openapi:`, agents under `a2a.agents:`, TOML descriptors under `ensembles:`, source files under `scripts:`, or modules under `modules:`.";
  const kept = refused === 0 ? "" : `, ${refused} refused for good`;
  const accepted = ok("pins", `${found.length - conflicts - refused} accepted${kept}`);
  const fix = waiting + conflicts > 0 ? "Accept the waiting pins." : name;
  return [
    ...(found.length === 0 ? [] : waiting === 0 ? [accepted] : []),
    ...(waiting === 0
      ? []
      : [warning("pins", `${waiting} of ${found.length} wait for your acceptance and are not used`, look)]),
    ...(conflicts === 0 ? [] : [warning("pins", other, reload)]),
    toolCount > 0 ? ok("tools", `${toolCount} registered`) : warning("tools", "none registered", fix),
  ];
}

/** Reports toolsets without tools, or with names of missing tools. Checks the whole catalog, including tools that the policy hides. */
export async function checkToolsets({ arsenal, configured }: StartedGateway): Promise<readonly Finding[]> {
  const toolsets = configuredToolsets(configured.config);
  if (toolsets.length === 0) return [];
  const all = await internalsOf(arsenal).catalogTools();
  const known = new Set(all.map(({ id }) => id));
  const waiting = new Set(((await arsenal.pins?.list()) ?? []).map(({ id }) => id));
  return toolsets.map(({ name, filter }) => {
    const check = `toolset ${name}`;
    const missing = namedIds(filter).filter((id) => !known.has(id));
    const unknown = missing.filter((id) => !waiting.has(id));
    const tools = all.filter(toPredicate(filter));
    if (unknown.length > 0)
      return warning(check, `names ${unknown.join(", ")}, which no tool has`, "Check the ids with: toolarsenal list");
    if (missing.length > 0) {
      const accept = `Run: toolarsenal pins accept ${missing[0] ?? ""}`;
      return warning(check, `names ${missing.join(", ")}, which wait to be accepted`, accept);
    }
    if (tools.length > 0) return ok(check, count(tools.length, "tool"));
    return warning(check, "has no tools", "Check include and exclude, and that its sources are connected.");
  });
}

/** Reports rules that match nothing, and conditions that no call can meet. */
export async function checkPolicy({ arsenal, configured }: StartedGateway): Promise<readonly Finding[]> {
  const { catalogTools, policyFindings } = internalsOf(arsenal);
  const toolsets = configured.config.toolsets.map(({ name }) => name);
  const found = await policyFindings({ tools: await catalogTools(), toolsets });
  return found.map(({ rule, state, message, fix }) => ({ check: `rule ${rule}`, state, message, fix }));
}
