import { ArsenalError, isArsenalError } from "../../../../errors/arsenal-error.ts";
import { messageOf } from "../../../../errors/show-value.ts";
import { onOneLine } from "../../../../observe/event-text.ts";

/** The error if the server requires the consent of a person. An unattended program cannot give it. */
export function needsLogin(serverName: string, why: string): ArsenalError {
  return new ArsenalError("SOURCE_UNAVAILABLE", `${serverName} ${why}`, {
    fix: `Run: toolarsenal login ${serverName}`,
  });
}

/** The error if the server requires scopes that this program's own client does not have. */
export function lacksRights(serverName: string, scope: string | undefined): ArsenalError {
  const rights = scope === undefined ? "more rights" : `the scope ${onOneLine(scope, 300)}`;
  return new ArsenalError(
    "PERMISSION_DENIED",
    `${serverName} requires ${rights}, which the client in its oauth settings does not have.`,
    {
      fix: "Grant it to this client at the authorization server, or configure another client.",
    },
  );
}

/** Converts a failure of the OAuth exchange. The result has no cause, because libraries quote unparsable text, which may be a token. */
export function toOAuthFailure(error: unknown, serverName: string): ArsenalError {
  if (isArsenalError(error)) return error;
  const message = onOneLine(messageOf(error), 300);
  const authorizationServer = `The authorization server of ${serverName}`;
  switch (error instanceof Error ? error.name : "") {
    case "IssuerMismatchError":
    case "AuthorizationServerMismatchError":
    case "InsecureTokenEndpointError":
      return new ArsenalError("PROTOCOL_ERROR", `The login to ${serverName} was refused: ${message}`, {
        fix: "Ask the operator of the server about this before you retry: another server may be posing as its authorization server.",
      });
    case "RegistrationRejectedError":
      return new ArsenalError("SOURCE_UNAVAILABLE", `${serverName} does not let clients register: ${message}`, {
        field: "oauth.clientId",
        fix: "Register a client with the authorization server and give its id in the server's oauth settings.",
      });
    case "OAuthError": {
      const denied = (error as { readonly code?: unknown }).code === "access_denied";
      const code = denied ? "PERMISSION_DENIED" : "SOURCE_UNAVAILABLE";
      const fix = `Run: toolarsenal login ${serverName}`;
      return new ArsenalError(code, `${authorizationServer} answered: ${message}`, { fix });
    }
    case "TypeError":
      return new ArsenalError("TRANSPORT_FAILED", `${authorizationServer} cannot be reached: ${message}`, {
        fix: "Check the address and the network, then try again.",
      });
    default:
      return new ArsenalError("SOURCE_UNAVAILABLE", `Cannot log in to ${serverName}: ${message}`, {
        fix: `Check the oauth settings of ${serverName}, then run: toolarsenal login ${serverName}`,
      });
  }
}
