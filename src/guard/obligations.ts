import { showValue } from "../errors/show-value.ts";
import { isPlainObject } from "../tool/json-schema.ts";
import type { Obligations } from "./policy.port.ts";

/** Whether each obligation is one that can be kept. */
const CAN_BE_KEPT: { readonly [Name in keyof Obligations]-?: (demanded: unknown) => boolean } = {
  rates: (rates) => isListOf(rates, isRate),
  redact: (redactions) => isListOf(redactions, (each) => isPlainObject(each) && typeof each["apply"] === "function"),
  egress: (domains) => isListOf(domains, (each) => typeof each === "string"),
  maxResultBytes: (bytes) => typeof bytes === "number" && bytes >= 0,
};

/**
 * What a policy demands that cannot be kept: a demand that nobody knows, or that says no number where one is compared. Undefined where all
 * can be. A policy may be anybody's code, and a demand that is passed over is a call that runs with less than its rules allow.
 */
export function unkeepable(obligations: unknown): string | undefined {
  if (obligations === undefined) return undefined;
  if (!isPlainObject(obligations)) return `its obligations are ${showValue(obligations)}`;
  for (const [name, demanded] of Object.entries(obligations)) {
    if (demanded === undefined) continue;
    if (!isKnown(name)) return `it demands ${showValue(name)}, which nothing here can keep`;
    if (!CAN_BE_KEPT[name](demanded)) return `its obligation ${name} is ${showValue(demanded)}`;
  }
  return undefined;
}

function isKnown(name: string): name is keyof Obligations {
  return Object.hasOwn(CAN_BE_KEPT, name);
}

function isListOf(value: unknown, isMember: (member: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isMember);
}

function isRate(rate: unknown): boolean {
  if (!isPlainObject(rate) || typeof rate["key"] !== "string") return false;
  return isPositive(rate["calls"]) && isPositive(rate["windowMs"]);
}

/** True for a number above 0, which NaN is not. */
export function isPositive(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}
