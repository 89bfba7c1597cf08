import type { errors } from "jose";

/** What is wrong with a token, in words that give nothing of it away. */
export function whyRefused(error: errors.JOSEError): string {
  switch (error.code) {
    case "ERR_JWT_EXPIRED":
      return "The token has expired.";
    case "ERR_JOSE_ALG_NOT_ALLOWED":
      return "The token is signed with an algorithm that is not accepted.";
    case "ERR_JWKS_NO_MATCHING_KEY":
      return "The token is signed with a key that its issuer does not publish.";
    case "ERR_JWS_SIGNATURE_VERIFICATION_FAILED":
      return "The signature of the token is wrong.";
    case "ERR_JWT_CLAIM_VALIDATION_FAILED":
      return WRONG_CLAIMS[(error as errors.JWTClaimValidationFailed).claim] ?? "A claim of the token is wrong.";
    default:
      return "The token is malformed.";
  }
}

const WRONG_CLAIMS: Readonly<Record<string, string>> = {
  iss: "The token is from another issuer.",
  aud: "The token is for another audience.",
  nbf: "The token is not valid yet.",
  exp: "The token does not say when it expires.",
};
