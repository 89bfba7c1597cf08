import { ArsenalError, fixable, isArsenalError } from "../errors/arsenal-error.ts";
import type { JudgedCase, PolicyCase } from "./policy-cases.ts";
import type { Principal } from "../guard/principal.ts";
import { mapInTurns } from "../register/in-turns.ts";
import type { PolicyAdministration } from "../serve/administration.ts";
import type { Tool } from "../tool/tool.ts";
import type { AdministrationParts } from "./administration.ts";

type PolicyParts = Pick<AdministrationParts, "guard" | "registry" | "ready" | "clock" | "ensembles">;

/** Lists, explains, tests and reloads the policy, as far as the calling operator may see it. */
export function createPolicyAdministration(parts: PolicyParts): PolicyAdministration {
  const { guard, registry } = parts;

  /** Returns the names of the rules about tenants other than the operator's. */
  async function hiddenRules({ tenant }: Principal): Promise<ReadonlySet<string>> {
    await guard.load();
    const rules = tenant === undefined ? [] : (guard.policyAt(parts.clock).rules?.() ?? []);
    return new Set(rules.flatMap(({ rule, tenants }) => (tenants?.includes(tenant ?? "") === false ? [rule] : [])));
  }

  /** Returns whether an operator may ask about a tool. Undefined if the operator may ask about all tools. */
  async function seenBy(by: Principal): Promise<((tool: Tool) => boolean) | undefined> {
    const { aegis } = await guard.load();
    return by.tenant === undefined ? undefined : (tool) => aegis.sees(tool, by);
  }

  async function missing(toolName: string, sees?: (tool: Tool) => boolean): Promise<ArsenalError> {
    const details = { field: "toolName", value: toolName };
    return new ArsenalError("TOOL_NOT_FOUND", await registry.explainMissing(toolName, sees), details);
  }

  return {
    async rules(by) {
      const hidden = await hiddenRules(by);
      const rules = guard.policyAt(parts.clock).rules?.();
      return rules?.filter(({ rule }) => !hidden.has(rule));
    },
    async explain({ toolName, principal, ...others }, by) {
      const asked = { ...others, principal: asTenant(principal, by) };
      const [{ aegis }] = await Promise.all([guard.load(), parts.ready()]);
      const sees = await seenBy(by);
      const found = await registry.find(toolName, sees && { sees });
      if (found === undefined) throw await missing(toolName, sees);
      const { tool } = found;
      const { guardsEgress } = parts.ensembles()?.settings(tool.ensemble ?? "") ?? {};
      const request = {
        ...asked,
        tool,
        requireConfirmation: false,
        guardsEgress: guardsEgress === true,
        isLarge: true,
      };
      const { steps, ...preview } = await aegis.preview(request);
      const hidden = await hiddenRules(by);
      const shown = steps?.filter(({ rule }) => !hidden.has(rule));
      return { toolId: tool.id, ...preview, ...(shown && { steps: shown }), explains: steps !== undefined };
    },
    async test(given, by, { policy }) {
      const { judgeCases, readCase } = await import("./policy-cases.ts");
      const asked = await mapInTurns([...given.entries()], ([index, each]) => {
        const { request, ...others } = readCase(each, index);
        return { ...others, request: { ...request, principal: asTenant(request.principal, by) } };
      });
      // The evaluation of a draft does not depend on the registered tools.
      const sees = policy === undefined ? await seenBy(by) : undefined;
      if (sees !== undefined) {
        await parts.ready();
        const ids = [...new Set(asked.map(({ request }) => request.tool.id))];
        const seen = new Set((await registry.getAll(ids)).filter(sees).map(({ id }) => id));
        const hidden = ids.find((id) => !seen.has(id));
        if (hidden !== undefined) throw await missing(hidden, sees);
      }
      const cases =
        policy === undefined
          ? await judgeCases(asked, (clock) => guard.policyAt(clock))
          : await judgedBy(policy, asked);
      return { failed: cases.filter(({ ok }) => !ok).length, cases };
    },
    reload: () => guard.reloadPolicy(),
  };
}

/** Puts the caller that a tenant's operator asks about into the operator's tenant. */
function asTenant(principal: Principal, by: Principal): Principal {
  if (by.tenant === undefined || principal.tenant === by.tenant) return principal;
  if (principal.tenant === undefined) return { ...principal, tenant: by.tenant };
  const problem = `"${by.id}" cannot ask about callers of other tenants.`;
  throw fixable("PERMISSION_DENIED", problem, `Ask about callers of the tenant "${by.tenant}".`);
}

async function judgedBy(policy: string, cases: readonly PolicyCase[]): Promise<readonly JudgedCase[]> {
  const { judgeDraft } = await import("./judge-draft.ts");
  try {
    return await judgeDraft({ policy, cases });
  } catch (error) {
    throw inputError(error);
  }
}

/** Converts an error about invalid settings in a request to an error of the request. */
export function inputError(error: unknown): unknown {
  return isArsenalError(error) && error.code === "CONFIG_INVALID"
    ? new ArsenalError("INPUT_INVALID", error.message, error.details)
    : error;
}
