import type { Policy } from "../../../guard/policy.port.ts";

/** A policy that stands in for another, which can be replaced while calls run. */
export interface ReplaceablePolicy extends Policy {
  /** Every question from now on is answered by this one. */
  replace(policy: Policy): void;
}

/** Makes a policy replaceable. */
export function replaceablePolicy(first: Policy): ReplaceablePolicy {
  let current = first;
  return {
    sees: (...question) => current.sees(...question),
    visible: (...question) => current.visible?.(...question),
    decide: (request) => current.decide(request),
    steps: (request) => current.steps?.(request),
    rules: () => current.rules?.(),
    registration: {
      get maxTools() {
        return current.registration?.maxTools;
      },
      get allowDuplicateNames() {
        return current.registration?.allowDuplicateNames;
      },
    },
    replace(policy) {
      current = policy;
    },
  };
}
