import { asList, asRecord, asRecords, asText, asTexts, isPlainObject } from "../../../tool/json-schema.ts";
import {
  httpScheme,
  readScheme,
  type Requirement,
  type Security,
  type SecurityScheme,
} from "../credentials/security.ts";
import type { AgentInterface, Version } from "./messages.ts";
import { readToolsExtension, type SkillTool } from "./tools-extension.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** The contents of an agent card, the same for every version of the protocol. */
export interface Card {
  readonly name: string;
  readonly description: string;
  readonly skills: readonly Skill[];
  /** The supported interfaces, in the agent's order of preference. */
  readonly interfaces: readonly AgentInterface[];
  readonly streaming: boolean;
  /** True if the agent has another card for authenticated callers. */
  readonly isExtended: boolean;
  readonly security: Security;
}

export interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
  /** Undefined if the requirements of the whole agent apply. */
  readonly security: Security | undefined;
  /** The definition of the tool, if the agent is another arsenal and this skill is one of its tools. */
  readonly tool: SkillTool | undefined;
}

/** Reads an agent card of version 1.0, 0.3 or the draft of 2024; undefined if it is not a card. */
export function readCard(card: JsonObject): Card | undefined {
  const { name, url, description, skills, supportedInterfaces } = card;
  if (typeof name !== "string" || (!Array.isArray(supportedInterfaces) && typeof url !== "string")) return undefined;
  const capabilities = asRecord(card["capabilities"]);
  const schemes = asRecord(card["securitySchemes"]);
  const requirements = card["securityRequirements"] ?? card["security"];
  const tools = readToolsExtension(capabilities);
  return {
    name,
    description: asText(description) ?? "",
    skills: asRecords(skills).flatMap((skill) => readSkill(skill, schemes, tools) ?? []),
    interfaces: readInterfaces(card),
    streaming: capabilities["streaming"] === true,
    isExtended: (capabilities["extendedAgentCard"] ?? card["supportsAuthenticatedExtendedCard"]) === true,
    security: requirements === undefined ? draftSecurity(card) : readSecurity(requirements, schemes),
  };
}

function readSkill(skill: JsonObject, schemes: JsonObject, tools: ReadonlyMap<string, SkillTool>): Skill | undefined {
  const id = asText(skill["id"]) ?? asText(skill["name"]);
  if (id === undefined) return undefined;
  const requirements = asList(skill["securityRequirements"] ?? skill["security"]);
  return {
    id,
    tool: tools.get(id),
    name: asText(skill["name"]) ?? id,
    description: asText(skill["description"]) ?? "",
    tags: asTexts(skill["tags"]),
    examples: asTexts(skill["examples"]),
    security: requirements.length === 0 ? undefined : readSecurity(requirements, schemes),
  };
}

function readInterfaces(card: JsonObject): readonly AgentInterface[] {
  if (Array.isArray(card["supportedInterfaces"])) {
    return asRecords(card["supportedInterfaces"]).flatMap(({ url, protocolBinding, protocolVersion, tenant }) =>
      toInterface(url, protocolBinding, toVersion(protocolVersion ?? "1.0"), asText(tenant)),
    );
  }
  const legacy = LEGACY_MEMBERS.some((member) => member in card);
  const version = legacy ? (toVersion(card["protocolVersion"] ?? "0.3") ?? "0.3") : "draft";
  const preferred = { url: card["url"], transport: card["preferredTransport"] ?? "JSONRPC" };
  return [preferred, ...asRecords(card["additionalInterfaces"])].flatMap(({ url, transport }) =>
    toInterface(url, transport, version),
  );
}

/** Fields that the draft of 2024 does not have. */
const LEGACY_MEMBERS = [
  "protocolVersion",
  "preferredTransport",
  "additionalInterfaces",
  "securitySchemes",
  "supportsAuthenticatedExtendedCard",
];

function toInterface(url: unknown, binding: unknown, version: Version | undefined, tenant?: string): AgentInterface[] {
  const name = String(binding).toUpperCase();
  if (typeof url !== "string" || version === undefined || (name !== "JSONRPC" && name !== "HTTP+JSON")) return [];
  return [{ url, binding: name, version, ...(tenant !== undefined && { tenant }) }];
}

/** 0.2 counts as 0.3; undefined for an unknown version. */
function toVersion(written: unknown): Version | undefined {
  const [major, minor] = String(written).split(".").map(Number);
  if (major === 1) return "1.0";
  return major === 0 && (minor === 2 || minor === 3) ? "0.3" : undefined;
}

/** `{ schemes: { key: { list: [] } } }` in 1.0, `{ key: [] }` before. */
function readSecurity(requirements: unknown, schemes: JsonObject): Security {
  return asRecords(requirements).map((set) =>
    Object.entries(isPlainObject(set["schemes"]) ? set["schemes"] : set).map(([name, scopes]): Requirement => ({
      name,
      scheme: toScheme(Object.hasOwn(schemes, name) ? schemes[name] : undefined),
      scopes: asTexts(isPlainObject(scopes) ? scopes["list"] : scopes),
    })),
  );
}

/** The fields that hold a scheme in 1.0, and their names in earlier versions. */
const SCHEME_MEMBERS = {
  apiKeySecurityScheme: "apiKey",
  httpAuthSecurityScheme: "http",
  oauth2SecurityScheme: "oauth2",
  openIdConnectSecurityScheme: "openIdConnect",
  mtlsSecurityScheme: "mutualTLS",
};

function toScheme(written: unknown): SecurityScheme {
  if (!isPlainObject(written)) return { type: "unsupported", what: "a scheme that the card does not describe" };
  const given = unwrapped(written, "scheme");
  const [member, type] = Object.entries(SCHEME_MEMBERS).find(([name]) => isPlainObject(given[name])) ?? [];
  if (member === undefined) return readScheme(given);
  const inner = asRecord(given[member]);
  const flows = unwrapped(asRecord(inner["flows"]), "flow");
  return readScheme({ ...inner, type, in: inner["location"] ?? inner["in"], flows });
}

/** Agents on the JavaScript SDK 1.3 write `{ scheme: { $case: "oauth2SecurityScheme", value } }` for `{ oauth2SecurityScheme: value }`. */
function unwrapped(written: JsonObject, member: string): JsonObject {
  const { $case, value } = asRecord(written[member]);
  return typeof $case === "string" ? { [$case]: value } : written;
}

/** `authentication: { schemes: ["Bearer"] }` */
function draftSecurity({ authentication }: JsonObject): Security {
  return asTexts(asRecord(authentication)["schemes"]).map((written) => [
    { name: written.toLowerCase(), scheme: httpScheme(written), scopes: [] },
  ]);
}
