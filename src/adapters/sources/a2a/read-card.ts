import { isPlainObject } from "../../../tool/json-schema.ts";
import type { Requirement, Security, SecurityScheme } from "../credentials/security.ts";
import type { AgentInterface, Version } from "./messages.ts";
import { readToolsExtension, type SkillTool } from "./tools-extension.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** What an agent says about itself, whatever version its card is written in. */
export interface Card {
  readonly name: string;
  readonly description: string;
  readonly skills: readonly Skill[];
  /** The agent's own order: the preferred one first. Only those that are supported. */
  readonly interfaces: readonly AgentInterface[];
  readonly streaming: boolean;
  /** Whether the agent has another card for callers that it knows. */
  readonly isExtended: boolean;
  readonly security: Security;
}

/** One thing that an agent can do. */
export interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  /** Undefined if the skill needs what the whole agent needs. */
  readonly security?: Security;
  /** How it is called, if it is a tool of another arsenal. */
  readonly tool?: SkillTool;
}

/** Reads an agent card of version 1.0, 0.3 or the draft of 2024; undefined if it is none. */
export function readCard(card: unknown): Card | undefined {
  if (!isPlainObject(card) || typeof card["name"] !== "string") return undefined;
  if (!Array.isArray(card["supportedInterfaces"]) && typeof card["url"] !== "string") return undefined;
  const capabilities = isPlainObject(card["capabilities"]) ? card["capabilities"] : {};
  const schemes = isPlainObject(card["securitySchemes"]) ? card["securitySchemes"] : {};
  const requirements = card["securityRequirements"] ?? card["security"];
  const tools = readToolsExtension(capabilities);
  return {
    name: card["name"],
    description: textOf(card["description"]),
    skills: listOf(card["skills"]).flatMap((skill) => readSkill(skill, schemes, tools) ?? []),
    interfaces: readInterfaces(card),
    streaming: capabilities["streaming"] === true,
    isExtended: (capabilities["extendedAgentCard"] ?? card["supportsAuthenticatedExtendedCard"]) === true,
    security: requirements === undefined ? draftSecurity(card) : readSecurity(requirements, schemes),
  };
}

function readSkill(skill: unknown, schemes: JsonObject, tools: ReadonlyMap<string, SkillTool>): Skill | undefined {
  if (!isPlainObject(skill)) return undefined;
  const id = textOf(skill["id"]) || textOf(skill["name"]);
  if (id === "") return undefined;
  const requirements = listOf(skill["securityRequirements"] ?? skill["security"]);
  const tool = tools.get(id);
  return {
    id,
    ...(tool === undefined ? {} : { tool }),
    name: textOf(skill["name"]) || id,
    description: textOf(skill["description"]),
    tags: textsOf(skill["tags"]),
    examples: textsOf(skill["examples"]),
    ...(requirements.length === 0 ? {} : { security: readSecurity(requirements, schemes) }),
  };
}

function readInterfaces(card: JsonObject): readonly AgentInterface[] {
  if (Array.isArray(card["supportedInterfaces"])) {
    return card["supportedInterfaces"].flatMap((each) => {
      if (!isPlainObject(each)) return [];
      const version = toVersion(each["protocolVersion"] ?? "1.0");
      return toInterface(each["url"], each["protocolBinding"], version, textOf(each["tenant"]));
    });
  }
  const legacy = LEGACY_MEMBERS.some((member) => member in card);
  const version = legacy ? (toVersion(card["protocolVersion"] ?? "0.3") ?? "0.3") : "draft";
  const preferred = toInterface(card["url"], card["preferredTransport"] ?? "JSONRPC", version);
  const others = listOf(card["additionalInterfaces"]).flatMap((each) =>
    isPlainObject(each) ? toInterface(each["url"], each["transport"], version) : [],
  );
  return [...preferred, ...others];
}

/** Members that the draft of 2024 did not have. */
const LEGACY_MEMBERS = [
  "protocolVersion",
  "preferredTransport",
  "additionalInterfaces",
  "securitySchemes",
  "supportsAuthenticatedExtendedCard",
];

function toInterface(
  url: unknown,
  binding: unknown,
  version: Version | undefined,
  tenant = "",
): readonly AgentInterface[] {
  const name = typeof binding === "string" ? binding.toUpperCase() : "";
  if (typeof url !== "string" || version === undefined || (name !== "JSONRPC" && name !== "HTTP+JSON")) return [];
  return [{ url, binding: name, version, ...(tenant === "" ? {} : { tenant }) }];
}

/** 0.2 is near enough to 0.3; undefined for a version that nobody knows yet. */
function toVersion(written: unknown): Version | undefined {
  const [major, minor] = String(written).split(".").map(Number);
  if (major === 1) return "1.0";
  return major === 0 && (minor === 2 || minor === 3) ? "0.3" : undefined;
}

/** `{ schemes: { key: { list: [] } } }` in 1.0, `{ key: [] }` before. */
function readSecurity(requirements: unknown, schemes: JsonObject): Security {
  return listOf(requirements)
    .filter(isPlainObject)
    .map((set) =>
      Object.entries(isPlainObject(set["schemes"]) ? set["schemes"] : set).map(([name, scopes]): Requirement => ({
        name,
        scheme: readScheme(Object.hasOwn(schemes, name) ? schemes[name] : undefined),
        scopes: textsOf(isPlainObject(scopes) ? scopes["list"] : scopes),
      })),
    );
}

/** The members that hold a scheme in 1.0, and what each is called before. */
const SCHEME_MEMBERS = {
  apiKeySecurityScheme: "apiKey",
  httpAuthSecurityScheme: "http",
  oauth2SecurityScheme: "oauth2",
  openIdConnectSecurityScheme: "openIdConnect",
  mtlsSecurityScheme: "mutualTLS",
} as const;

function readScheme(written: unknown): SecurityScheme {
  if (!isPlainObject(written)) return { type: "unsupported", what: "a scheme that the card does not describe" };
  const given = unwrapped(written, "scheme");
  const [member, called] = Object.entries(SCHEME_MEMBERS).find(([name]) => isPlainObject(given[name])) ?? [];
  const inner = member === undefined ? given : (given[member] as JsonObject);
  const type = called ?? textOf(given["type"]);
  switch (type) {
    case "apiKey": {
      const place = inner["location"] ?? inner["in"];
      const { name } = inner;
      if (typeof name === "string" && (place === "header" || place === "query" || place === "cookie"))
        return { type, in: place, name };
      return { type: "unsupported", what: "a key in an unknown place" };
    }
    case "http": {
      const scheme = textOf(inner["scheme"]).toLowerCase();
      return scheme === "basic" || scheme === "bearer" ? { type: scheme } : { type: "unsupported", what: scheme };
    }
    case "oauth2": {
      const flow = isPlainObject(inner["flows"]) ? unwrapped(inner["flows"], "flow")["clientCredentials"] : undefined;
      const tokenUrl = isPlainObject(flow) ? flow["tokenUrl"] : undefined;
      return { type, ...(typeof tokenUrl === "string" ? { tokenUrl } : {}) };
    }
    case "openIdConnect":
      return { type: "oauth2" };
    case "mutualTLS":
      return { type };
    default:
      return { type: "unsupported", what: type || "an unknown scheme" };
  }
}

/** Agents on the JavaScript SDK 1.3 write `{ scheme: { $case: "oauth2SecurityScheme", value } }` for `{ oauth2SecurityScheme: value }`. */
function unwrapped(written: JsonObject, member: string): JsonObject {
  const inner = written[member];
  return isPlainObject(inner) && typeof inner["$case"] === "string" ? { [inner["$case"]]: inner["value"] } : written;
}

/** `authentication: { schemes: ["Bearer"] }` */
function draftSecurity({ authentication }: JsonObject): Security {
  if (!isPlainObject(authentication)) return [];
  return textsOf(authentication["schemes"]).map((written): readonly Requirement[] => {
    const name = written.toLowerCase();
    const scheme: SecurityScheme =
      name === "basic" || name === "bearer" ? { type: name } : { type: "unsupported", what: written };
    return [{ name, scheme, scopes: [] }];
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((each) => typeof each === "string");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
