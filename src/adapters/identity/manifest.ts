/** Identities (ways to authenticate callers) by name, each loaded on first use. A new one is one line here; see CONTRIBUTING.md. */
export const identities = {
  "bearer-token": () => import("./bearer-token.ts"),
  "api-keys": () => import("./api-keys/api-keys.ts"),
  jwt: () => import("./jwt/jwt.ts"),
};
