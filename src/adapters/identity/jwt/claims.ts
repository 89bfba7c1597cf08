import type { Principal } from "../../../guard/principal.ts";
import { asText, asTexts, isPlainObject } from "../../../tool/json-schema.ts";
import { CAPABILITIES, type Capability } from "../../../tool/tool.ts";

/** The claims of a token that describe its caller: the name of a claim, or a path to a nested one (`realm_access.roles`). */
export interface ClaimNames {
  /** Defaults to `sub`. */
  readonly id?: string;
  /** If set, tokens without this claim are refused. Not read by default. */
  readonly tenant?: string;
  /** Defaults to `roles`. */
  readonly roles?: string;
  /** Defaults to `capabilities`. */
  readonly capabilities?: string;
  /** Defaults to `scope`, then `scp`. */
  readonly scopes?: string;
  /** The groups that tenants map to roles. Defaults to `groups`. */
  readonly groups?: string;
}

type Claims = Readonly<Record<string, unknown>>;

/** Returns the caller of a verified token, or the name of a missing claim. Adds `capabilities` to the claimed ones. */
export function toPrincipal(
  payload: Claims,
  claims: ClaimNames,
  capabilities: readonly Capability[],
): Principal | string {
  const idClaim = claims.id ?? "sub";
  const id = asText(valueAt(payload, idClaim));
  if (id === undefined) return idClaim;
  const tenant = claims.tenant === undefined ? undefined : asText(valueAt(payload, claims.tenant));
  if (claims.tenant !== undefined && tenant === undefined) return claims.tenant;

  const roles = valueAt(payload, claims.roles ?? "roles");
  const claimed = wordsOf(valueAt(payload, claims.capabilities ?? "capabilities"));
  const scopes = claims.scopes === undefined ? (payload["scope"] ?? payload["scp"]) : valueAt(payload, claims.scopes);
  return {
    // The prefix separates these ids from the operator's names for tokens and keys, so a self-chosen user name never gives access to another caller's
    // sessions.
    id: `jwt:${id}`,
    ...(tenant === undefined ? {} : { tenant }),
    roles: typeof roles === "string" ? [roles] : textsOf(roles),
    capabilities: CAPABILITIES.filter((each) => capabilities.includes(each) || claimed.includes(each)),
    // `*` means every scope here, so an issuer that grants any requested scope must not grant it.
    scopes: wordsOf(scopes).filter((scope) => scope !== "*"),
    local: false,
  };
}

/** Returns the groups of a verified token's caller. */
export function toGroups(payload: Claims, { groups = "groups" }: ClaimNames): readonly string[] {
  const claimed = valueAt(payload, groups);
  return typeof claimed === "string" ? [claimed] : textsOf(claimed);
}

function valueAt(payload: Claims, path: string): unknown {
  // Names such as https://example.com/roles contain dots but are not paths.
  if (Object.hasOwn(payload, path)) return payload[path];
  return path.split(".").reduce<unknown>((value, key) => {
    return isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, payload);
}

function textsOf(value: unknown): readonly string[] {
  return asTexts(value).filter((each) => each !== "");
}

/** Reads a list, or a text with words between spaces, like OAuth scopes. */
function wordsOf(value: unknown): readonly string[] {
  return typeof value === "string" ? value.split(" ").filter((word) => word !== "") : textsOf(value);
}
