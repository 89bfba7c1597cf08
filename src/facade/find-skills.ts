import { localOperator } from "../guard/principal.ts";
import type { ToolQuery } from "../retrieve/query.ts";
import type { FoundSkill } from "../retrieve/result.ts";
import { fromServedUri } from "../serve/mcp/aggregate/resources/resource-uri.ts";
import { listSkills } from "../serve/mcp/aggregate/skills.ts";
import type { ServableArsenal } from "../serve/served-arsenal.ts";
import { asRecord } from "../tool/json-schema.ts";
import { rankTexts } from "./rank-texts.ts";

const DEFAULT_LIMIT = 5;
/** The format allows 1,024 characters. */
const MOST_DESCRIBED = 1_024;

/** Finds the skills that fit a request, among the MCP servers whose resources the caller may read. Toolsets have no resources, so no skills. */
export async function findSkills(
  { context, principal = localOperator(), limit = DEFAULT_LIMIT, scoreThreshold, toolset, signal }: ToolQuery,
  arsenal: Pick<ServableArsenal, "upstreams" | "getTool" | "scoreThreshold">,
): Promise<readonly FoundSkill[]> {
  if (toolset !== undefined) return [];
  const listed = await listSkills(arsenal.upstreams, principal, arsenal, signal);
  signal?.throwIfAborted();
  const skills = listed.flatMap(toSkill);
  const texts = skills.map(({ name, description }) => {
    const plain = name.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
    return { words: `${plain}. ${description}`, fallback: `The skill ${plain}.` };
  });
  const ranked = await rankTexts(texts, context.query, { limit, signal });
  return ranked.flatMap(({ index, score }) => {
    const skill = skills[index];
    return skill === undefined || score < (scoreThreshold ?? arsenal.scoreThreshold) ? [] : [{ ...skill, score }];
  });
}

function toSkill({ uri, frontmatter }: Readonly<Record<string, unknown>>): readonly Omit<FoundSkill, "score">[] {
  const { name, description } = asRecord(frontmatter);
  const server = typeof uri === "string" ? fromServedUri(uri)?.upstream : undefined;
  if (typeof uri !== "string" || server === undefined || typeof name !== "string") return [];
  return [{ uri, name, description: String(description ?? "").slice(0, MOST_DESCRIBED), server }];
}
