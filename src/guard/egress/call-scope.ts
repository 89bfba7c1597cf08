import { AsyncLocalStorage } from "node:async_hooks";
import { isWithin, type OnlyDomains, onlyWithin } from "./domain-bound.ts";

/** The bounds of the calls that are under way around the present one, all of which hold. */
const bounds = new AsyncLocalStorage<readonly OnlyDomains[] | undefined>();

/**
 * Runs a call that may reach these domains and no other, whatever it awaits and however deep; within another such call, only what both may
 * reach. An empty list is nowhere, unlike `EgressRules.allowedDomains`, where it sets no bound.
 */
export function withinDomains<R>(domains: readonly string[], run: () => R): R {
  return bounds.run([...(bounds.getStore() ?? []), onlyWithin(domains)], run);
}

/**
 * Runs what the program does for itself although a call came to need it: connecting, or renewing a token that all calls share. It is bound by
 * the program's rules and not by those of the call that happened to be first.
 */
export function outsideCalls<R>(run: () => R): R {
  return bounds.run(undefined, run);
}

/** True where the call under way may reach the host, as `hostOf` gives it; true outside of calls that are bound. */
export function mayReachInCall(host: string): boolean {
  return bounds.getStore()?.every((bound) => isWithin(host, bound)) ?? true;
}
