import { showValue } from "../../errors/show-value.ts";
import type { Principal } from "../../guard/principal.ts";
import { isPlainObject } from "../../tool/json-schema.ts";
import { CAPABILITIES } from "../../tool/tool.ts";
import { wrongInput } from "../input.ts";

const KEYS = ["id", "tenant", "roles", "capabilities", "scopes", "local"];

/** A caller from its id, or from `{ id, tenant, roles, capabilities, scopes, local }`. By default it has no roles, every capability and every scope. */
export function readPrincipal(given: unknown, field: string): Principal {
  const said = typeof given === "string" ? { id: given } : given;
  const refuse = (at: string, value: unknown, problem: string, fix: string): never => {
    throw wrongInput(at, value, `${at} ${problem}.`, fix);
  };
  if (!isPlainObject(said) || typeof said["id"] !== "string" || said["id"] === "")
    return refuse(field, given, `has no id: ${showValue(given)}`, "Write an id, or { id: ada, roles: [support] }.");
  for (const [key, value] of Object.entries(said)) {
    const at = `${field}.${key}`;
    if (!KEYS.includes(key)) refuse(at, value, "is an unknown key", `Known keys: ${KEYS.join(", ")}.`);
    const isList = Array.isArray(value) && value.every((entry) => typeof entry === "string");
    if (["roles", "capabilities", "scopes"].includes(key) && !isList)
      refuse(at, value, `is ${showValue(value)}`, "Write a list of names.");
    if (key === "tenant" && typeof value !== "string") refuse(at, value, `is ${showValue(value)}`, "Write a text.");
    if (key === "local" && typeof value !== "boolean")
      refuse(at, value, `is ${showValue(value)}`, "Write true or false.");
  }
  const everything = { roles: [], capabilities: CAPABILITIES, scopes: ["*"], local: false };
  return { ...everything, ...(said as unknown as Pick<Principal, "id">) };
}
