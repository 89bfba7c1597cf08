import type { Credentials, Identified, Identity } from "../identity.port.ts";

/** Combines identities, which are tried in order. An unknown caller gets the refusal of the last one. */
export function anyIdentity(identities: readonly [Identity, ...Identity[]]): Identity {
  const [first] = identities;
  if (identities.length === 1) return first;
  const tokenOrigin = identities.find((identity) => identity.tokenOrigin !== undefined)?.tokenOrigin;
  const signIn = identities.find((identity) => identity.signIn !== undefined)?.signIn;

  async function identify(credentials: Credentials, options?: { readonly signal?: AbortSignal }): Promise<Identified> {
    let last: Identified = {};
    for (const identity of identities) {
      const found = await identified(identity, credentials, options);
      if (found.principal !== undefined) return found;
      if (found.refusal !== undefined) last = found;
    }
    return last;
  }

  return {
    name: identities.map(({ name }) => name).join("+"),
    challenge: first.challenge,
    identify,
    authenticate: async (credentials, options) => (await identify(credentials, options)).principal,
    watch(changed) {
      const ends = identities.map((identity) => identity.watch?.(changed));
      return () => ends.forEach((end) => end?.());
    },
    ...(tokenOrigin && { tokenOrigin }),
    ...(signIn && { signIn: { ...signIn, onlyWay: false } }),
  };
}

/** Authenticates with `identify` if the identity implements it. */
export async function identified(
  identity: Identity,
  credentials: Credentials,
  options?: { readonly signal?: AbortSignal },
): Promise<Identified> {
  if (identity.identify !== undefined) return identity.identify(credentials, options);
  const principal = await identity.authenticate(credentials, options);
  return principal === undefined ? {} : { principal };
}

/** Returns the secret of an `Authorization: Bearer …` header; undefined if the header is missing or has another form. */
export function bearerCredential(header: unknown): string | undefined {
  return typeof header === "string" ? /^bearer +(?<secret>\S+) *$/i.exec(header)?.groups?.["secret"] : undefined;
}
