import type { ExplainedTool, Explanation } from "../../retrieve/result.ts";
import type { Terminal } from "../command.ts";
import { styles, table } from "./style.ts";

/** Formats a ranking as two tables: the chosen tools, and the best of the rest, with the contribution of each signal to the score. */
export function showExplanation(
  { chosen, leftOut }: Explanation,
  { out, environment }: Pick<Terminal, "out" | "environment">,
): string {
  const { bold } = styles(out, environment);
  const parts = [
    ["Why", chosen],
    ["Left out", leftOut],
  ] as const;
  return parts
    .filter(([title, tools]) => title === "Why" || tools.length > 0)
    .map(([title, tools]) => `${bold(title)}\n${explained(tools)}`)
    .join("\n\n");
}

function explained(tools: readonly ExplainedTool[]): string {
  const names = tools[0]?.signals.map(({ name }) => name) ?? [];
  const header = ["score", "tool", "reason", ...names.map((name) => name.replace(/Penalty$/, "")), "matched"];
  const rows = tools.map(({ toolId, score, reason, because, signals, matchedTerms }) => [
    score.toFixed(3),
    toolId,
    because ? `${reason} (${because})` : reason,
    ...signals.map(({ contribution }) => `${contribution < 0 ? "" : "+"}${contribution.toFixed(3)}`),
    matchedTerms
      .slice(0, 4)
      .map(({ term, fields }) => `${term}:${fields[0] ?? ""}`)
      .join(" "),
  ]);
  return table([header, ...rows]);
}
