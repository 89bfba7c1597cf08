import type { AgentCard, AgentExtension, AgentSkill, SecurityScheme } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { type SkillTool, TOOLS_EXTENSION } from "../../adapters/sources/a2a/tools-extension.ts";
import { localOperator, type Principal } from "../../guard/principal.ts";
import { programIdentity } from "../../system/program-identity.ts";
import type { Tool } from "../../tool/tool.ts";
import { CHANGES_TOOLS } from "../served-arsenal.ts";
import type { SurfaceContext } from "../surface.ts";
import { setNewest } from "../../base/remember.ts";
import { callerOf, ownerOf } from "./call-context.ts";
import { toSkillId } from "./read-message.ts";

/** The agent cards of an arsenal. They are created on demand, and cached until the catalog or a toolset changes. */
export interface Cards {
  /** Returns the public card with addresses below `base`: `https://tools.example.com`. */
  open(base: string): Promise<AgentCard>;
  /** Returns the card for an authenticated caller. It lists the toolsets that the caller may use, and each of the caller's tools as a skill. */
  extended(context: ServerCallContext, base: string): Promise<AgentCard>;
  /** The agent's abilities, which do not depend on the catalog. */
  readonly abilities: AgentCard;
  /** Returns true if a toolset can be addressed over A2A. */
  exposes(toolset: string): boolean;
  close(): void;
}

const TEXT = "text/plain";
const JSON_TYPE = "application/json";

/** Maximum number of cached cards. There is one card per address and caller. */
const MOST_KEPT = 100;
const MOST_EXAMPLES = 5;
const MOST_TAGS = 10;
/**
 * Limits for an extended card: the number of tools and the bytes of their definitions. Clients limit the size of cards. Further tools can be found by
 * searching.
 */
const MOST_TOOLS = 500;
const MOST_TOOL_BYTES = 512 * 1024;

export function createCards(context: SurfaceContext): Cards {
  const { arsenal, isLocal, toolset: only, a2a, redactor } = context;
  const kept = new Map<string, Promise<AgentCard>>();
  const forget = (): void => kept.clear();
  const ends = [arsenal.subscribe(forget, { names: CHANGES_TOOLS }), arsenal.toolsets.watch(forget)];

  const exposes = (toolset: string): boolean => a2a?.expose?.includes(toolset) ?? true;

  function keep(key: string, begin: () => Promise<AgentCard>): Promise<AgentCard> {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const making = setNewest(kept, key, begin(), MOST_KEPT);
    making.catch(() => kept.delete(key));
    return making;
  }

  async function make(base: string, reader: Principal | undefined, isExtended = false): Promise<AgentCard> {
    const by = reader === undefined ? { principal: localOperator(), includeRefused: true } : { principal: reader };
    const tools = await arsenal.listTools(by);
    // Clients pin skills and the description. The extended card lists every tool, so only that list changes with the catalog.
    const skills = [discovery(reader === undefined || isExtended ? [] : tools), EXECUTION];
    if (reader !== undefined && only === undefined) {
      const toolsets = arsenal.toolsets.list(reader).filter(({ name }) => exposes(name));
      for (const { name, description, tags } of toolsets) {
        const own = isExtended ? [] : await arsenal.listTools({ principal: reader, toolset: name });
        skills.push(toolsetSkill(name, description, tags, own));
      }
    }
    const listed = isExtended ? fitting(tools.map((tool) => redactor.known.value(toListed(tool)))) : [];
    const { name = "ToolArsenal", provider = { organization: "ToolArsenal", url: base } } = a2a ?? {};
    const count = isExtended ? "" : ` ${tools.length} ${tools.length === 1 ? "tool" : "tools"} available.`;
    const common = abilities(context, base);
    const card: AgentCard = {
      ...common,
      ...(listed.length > 0 && { capabilities: { ...common.capabilities, extensions: [toolsExtension(listed)] } }),
      name,
      description: `${a2a?.description ?? "Finds tools and runs them under policy."}${count}`,
      provider: { ...provider },
      skills: [...skills, ...listed.map(({ skill: each }) => each)],
    };
    if (a2a?.signingKey === undefined) return card;
    const { signCard } = await import("./card-signature.ts");
    const key = await a2a.secrets.fill(a2a.signingKey, { scope: "a2a", field: "a2a.signing_key" });
    return signCard(card, key);
  }

  return {
    abilities: abilities(context, ""),
    exposes,
    open: (base) => keep(`open ${base}`, () => make(base, isLocal ? localOperator() : undefined)),
    async extended(call, base) {
      const { principal } = callerOf(call);
      // Two callers with the same name may have different roles and see different tools.
      const { roles, capabilities, scopes } = principal;
      const key = JSON.stringify([ownerOf(principal), roles, capabilities, scopes, base]);
      return keep(key, () => make(base, principal, true));
    },
    close() {
      for (const end of ends) end();
    },
  };
}

function abilities({ identity, a2a }: SurfaceContext, base: string): AgentCard {
  return {
    name: "",
    description: "",
    version: programIdentity().version,
    provider: undefined,
    supportedInterfaces: ["1.0", "0.3"].flatMap((protocolVersion) => [
      { url: `${base}/a2a`, protocolBinding: "JSONRPC", tenant: "", protocolVersion },
      // The paths of version 0.3 already begin with /v1.
      {
        url: protocolVersion === "0.3" ? `${base}/a2a` : `${base}/a2a/v1`,
        protocolBinding: "HTTP+JSON",
        tenant: "",
        protocolVersion,
      },
    ]),
    capabilities: {
      streaming: true,
      pushNotifications: a2a !== undefined,
      extensions: [],
      extendedAgentCard: true,
    },
    ...securityOf(identity),
    defaultInputModes: [TEXT, JSON_TYPE],
    defaultOutputModes: [TEXT, JSON_TYPE],
    skills: [],
    signatures: [],
  };
}

/** Returns the ways to authenticate that the host accepts. Any of them suffices. */
function securityOf(identity: SurfaceContext["identity"]): Pick<AgentCard, "securitySchemes" | "securityRequirements"> {
  if (identity === undefined) return { securitySchemes: {}, securityRequirements: [] };
  const { name, tokenOrigin } = identity;
  const description =
    tokenOrigin === undefined
      ? "A token or an API key of the gateway."
      : `A token of ${tokenOrigin.authorizationServers.join(" or ")}.`;
  const bearerFormat = tokenOrigin === undefined ? "" : "JWT";
  const bearer: SecurityScheme = {
    scheme: { $case: "httpAuthSecurityScheme", value: { description, scheme: "bearer", bearerFormat } },
  };
  const key = { description: "An API key of the gateway.", location: "header", name: "X-API-Key" };
  const apiKey: SecurityScheme = { scheme: { $case: "apiKeySecurityScheme", value: key } };
  const securitySchemes = name.split("+").includes("api-keys") ? { bearer, apiKey } : { bearer };
  return {
    securitySchemes,
    securityRequirements: Object.keys(securitySchemes).map((each) => ({ schemes: { [each]: { list: [] } } })),
  };
}

function discovery(tools: readonly Tool[]): AgentSkill {
  return skill({
    id: "tool_discovery",
    name: "Tool discovery",
    description:
      "Finds the tools that fit a request in plain words. Send a text; the answer has their definitions as data.",
    tags: [...new Set(["tools", "search", ...commonTags(tools)])],
    examples: examplesOf(tools),
  });
}

const EXECUTION = skill({
  id: "tool_execution",
  name: "Tool execution",
  description:
    'Runs one tool with retries, timeouts and policies. Send a data part {"tool": NAME, "arguments": {…}}; the answer has the result.',
  tags: ["tools", "execution"],
  examples: ['{"tool": "NAMESPACE.NAME", "arguments": {}}'],
});

function toolsetSkill(name: string, description: string, tags: readonly string[], tools: readonly Tool[]): AgentSkill {
  return skill({
    id: toSkillId(name),
    name,
    description: description === "" ? `Finds and runs the tools of the toolset ${name}.` : description,
    tags: [...new Set(["toolset", ...tags, ...commonTags(tools)])].slice(0, MOST_TAGS),
    examples: examplesOf(tools),
  });
}

interface ListedTool {
  readonly skill: AgentSkill;
  readonly tool: SkillTool;
}

function toListed({ id, title, name, description, tags, examples, parameters, annotations }: Tool): ListedTool {
  const { confirmed: _, ...hints } = annotations;
  return {
    skill: skill({ id, name: title ?? name, description, tags: ["tool", ...tags], examples: [...examples] }),
    tool: { parameters, ...(Object.keys(hints).length > 0 && { annotations: hints }) },
  };
}

function fitting(tools: readonly ListedTool[]): readonly ListedTool[] {
  let bytes = 0;
  return tools.filter((tool, place) => {
    bytes += Buffer.byteLength(JSON.stringify(tool));
    return place < MOST_TOOLS && bytes <= MOST_TOOL_BYTES;
  });
}

function toolsExtension(listed: readonly ListedTool[]): AgentExtension {
  return {
    uri: TOOLS_EXTENSION,
    description:
      'These skills are tools. Run one with a data part {"tool": SKILL, "arguments": {…}}; its parameters are below.',
    required: false,
    params: { tools: Object.fromEntries(listed.map(({ skill: { id }, tool }) => [id, tool])) },
  };
}

function skill(given: Pick<AgentSkill, "id" | "name" | "description" | "tags" | "examples">): AgentSkill {
  return { ...given, inputModes: [TEXT, JSON_TYPE], outputModes: [TEXT, JSON_TYPE], securityRequirements: [] };
}

/** Returns examples of requests, from as many tools as possible. */
function examplesOf(tools: readonly Tool[]): string[] {
  return tools.flatMap(({ examples }) => examples.slice(0, 1)).slice(0, MOST_EXAMPLES);
}

function commonTags(tools: readonly Tool[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { tags } of tools) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .sort(([, left], [, right]) => right - left)
    .slice(0, MOST_TAGS)
    .map(([tag]) => tag);
}
