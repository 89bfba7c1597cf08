import type { Principal } from "../../../guard/principal.ts";
import { asText, asTexts, isPlainObject } from "../../../tool/json-schema.ts";
import { CAPABILITIES, type Capability } from "../../../tool/tool.ts";

/** In which claims a token says what of its caller: a claim's name, or a path to one inside (`realm_access.roles`). */
export interface ClaimNames {
  /** Default `sub`. */
  readonly id?: string;
  /** Where it is set, a token without that claim is refused. Not read by default. */
  readonly tenant?: string;
  /** Default `roles`. */
  readonly roles?: string;
  /** Default `capabilities`. */
  readonly capabilities?: string;
  /** Default `scope`, or else `scp`. */
  readonly scopes?: string;
}

type Claims = Readonly<Record<string, unknown>>;

/** The caller that a verified token is about, or the name of the claim that it lacks. Every caller has `capabilities`, besides those it claims. */
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
    // Set apart from the names that an operator gives to tokens and keys: a chosen user name never gives access to another caller's sessions.
    id: `jwt:${id}`,
    ...(tenant === undefined ? {} : { tenant }),
    roles: typeof roles === "string" ? [roles] : textsOf(roles),
    capabilities: CAPABILITIES.filter((each) => capabilities.includes(each) || claimed.includes(each)),
    // Here `*` means every scope. Issuers that pass on whatever scope a client asks for must not grant that.
    scopes: wordsOf(scopes).filter((scope) => scope !== "*"),
    local: false,
  };
}

function valueAt(payload: Claims, path: string): unknown {
  // Names such as https://example.com/roles have dots and are no path.
  if (Object.hasOwn(payload, path)) return payload[path];
  return path.split(".").reduce<unknown>((value, key) => {
    return isPlainObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, payload);
}

function textsOf(value: unknown): readonly string[] {
  return asTexts(value).filter((each) => each !== "");
}

/** A list, or a text with blanks between its words as OAuth writes scopes. */
function wordsOf(value: unknown): readonly string[] {
  return typeof value === "string" ? value.split(" ").filter((word) => word !== "") : textsOf(value);
}
