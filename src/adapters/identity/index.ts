// From manifest.ts, by `npm run derive`:
export { bearerToken, type BearerTokenOptions } from "./bearer-token.ts";
export { apiKeyFile, apiKeys, apiKeyState, type StoredKey } from "./api-keys/api-keys.ts";
export { jwtIdentity, type JwtOptions } from "./jwt/jwt.ts";
// The rest of toolarsenal/identity:
export type {
  Credentials,
  Identified,
  Identity,
  Refusal,
  SignIn,
  SignInAttempt,
  TokenOrigin,
} from "../../guard/identity.port.ts";
export type { SignInSettings } from "./jwt/sign-in.ts";
export type { Principal } from "../../guard/principal.ts";
