import type { Policy, PolicyDecision, PolicyView } from "../../../guard/policy.port.ts";
import type { Principal } from "../../../guard/principal.ts";
import type { Tool } from "../../../tool/tool.ts";
import { askedByTool } from "../patterns.ts";
import { principalEntity, toolEntity } from "./entities.ts";
import { type CedarLibrary, type CedarValue, loadCedar } from "./library.ts";
import { readPolicies } from "./read-policies.ts";
import { toRecord } from "./values.ts";

/** What Cedar policies can be given beside their text. */
export interface CedarParts {
  /** `@cedar-policy/cedar-wasm/nodejs`; the installed one where absent. */
  readonly library?: CedarLibrary;
  /** How messages name the text: its path. `policies` where absent. */
  readonly name?: string;
  /** `strict` asks for a confirmation also where only a server calls its tool destructive. */
  readonly mode?: "standard" | "strict";
}

/** Callers whose view of the tools is kept. */
const MAX_CALLERS = 1_000;

/** What the policies say of one question. */
type Answer =
  | { readonly said: "permitted" | "refused"; readonly by: readonly string[] }
  | { readonly said: "failed"; readonly rule: string; readonly problem: string };

/**
 * A policy in Cedar. `see` and `call` are its actions; what nothing permits is refused, and so is what a policy fails on. A permit with
 * `@require_approval("why")` lets a call run once a person agreed. Throws LIBRARY_MISSING without the library, and CONFIG_INVALID with the
 * line of an invalid policy.
 *
 * @example
 * cedarPolicy('permit(principal in Role::"support", action, resource in Namespace::"crm");');
 */
export function cedarPolicy(text: string, parts: CedarParts = {}): Policy {
  const { library = loadCedar(), name = "policies", mode = "standard" } = parts;
  const { setId, names, approvals } = readPolicies(text, name, library);
  const entities = new WeakMap<Tool, ReturnType<typeof toolEntity>>();
  const views = new Map<string, WeakMap<Tool, boolean>>();

  function entityOf(tool: Tool): ReturnType<typeof toolEntity> {
    let entity = entities.get(tool);
    if (entity === undefined) entities.set(tool, (entity = toolEntity(tool)));
    return entity;
  }

  function ask(action: "see" | "call", tool: Tool, principal: Principal, context: Record<string, CedarValue>): Answer {
    const [asking, asked] = [principalEntity(principal), entityOf(tool)];
    const answer = library.statefulIsAuthorized({
      principal: asking.uid,
      action: { type: "Action", id: action },
      resource: asked.uid,
      context,
      entities: [asking, asked],
      preparsedPolicySetId: setId,
    });
    if (answer.type === "failure")
      return { said: "failed", rule: "cedar", problem: answer.errors.map(({ message }) => message).join("; ") };
    const { decision, diagnostics } = answer.response;
    // Cedar passes over a policy that fails. One that forbids must not be passed over.
    const [failed] = diagnostics.errors;
    if (failed !== undefined) return { said: "failed", rule: failed.policyId, problem: failed.error.message };
    const by = names.filter((each) => diagnostics.reason.includes(each));
    return { said: decision === "allow" ? "permitted" : "refused", by };
  }

  /** Nothing but tool, caller and view counts, and none of them changes: a search asks about every tool. */
  function sees(tool: Tool, principal: Principal, view: PolicyView = {}): boolean {
    const { id, tenant, roles, capabilities, scopes, local } = principal;
    const key = JSON.stringify([id, tenant, roles, capabilities, scopes, local, view.toolset]);
    let known = views.get(key);
    if (known === undefined) {
      if (views.size >= MAX_CALLERS) views.clear();
      views.set(key, (known = new WeakMap()));
    }
    let answer = known.get(tool);
    if (answer === undefined) {
      answer = ask("see", tool, principal, toolsetOf(view)).said === "permitted";
      known.set(tool, answer);
    }
    return answer;
  }

  function decide(tool: Tool, principal: Principal, context: Record<string, CedarValue>): PolicyDecision {
    const answer = ask("call", tool, principal, context);
    if (answer.said === "failed") return undecided(tool, answer.rule, answer.problem);
    const [first] = answer.by;
    if (answer.said === "refused") return refused(tool, principal, first);
    const approval = answer.by.find((each) => approvals.has(each));
    if (approval === undefined)
      return askedByTool(tool, mode) ?? { effect: "allow", ...(first === undefined ? {} : { rule: first }) };
    const reason = approvals.get(approval) || `A person must approve ${tool.id}: policy "${approval}" asks for it.`;
    return { effect: "confirm", rule: approval, reason };
  }

  return {
    sees,
    decide({ tool, principal, arguments: args, toolset }) {
      const view = toolset === undefined ? {} : { toolset };
      if (!sees(tool, principal, view))
        return { effect: "deny", rule: "see", reason: `No policy lets "${principal.id}" see ${tool.id}.` };
      let shown: Record<string, CedarValue>;
      try {
        shown = toRecord(args);
      } catch (error) {
        return undecided(tool, "cedar", `its arguments cannot be shown to a policy: ${(error as Error).message}`);
      }
      return decide(tool, principal, { args: shown, ...toolsetOf(view) });
    },
  };
}

function toolsetOf({ toolset }: PolicyView): Record<string, CedarValue> {
  return toolset === undefined ? {} : { toolset };
}

function undecided(tool: Tool, rule: string, problem: string): PolicyDecision {
  const reason = `The policies could not decide on ${tool.id}, so the call is refused: ${problem}. Give what "${rule}" looks at, or fix it.`;
  return { effect: "deny", rule, reason };
}

function refused(tool: Tool, principal: Principal, by: string | undefined): PolicyDecision {
  if (by !== undefined)
    return { effect: "deny", rule: by, reason: `Policy "${by}" forbids ${tool.id} to "${principal.id}".` };
  const reason = `No policy permits ${tool.id} to "${principal.id}". Add a permit, or use another tool.`;
  return { effect: "deny", rule: "default-deny", reason };
}
