import type { ErrorCode } from "./codes.ts";

/** An error code on the wire: an HTTP status and a JSON-RPC code. */
export interface WireError {
  readonly httpStatus: number;
  readonly jsonRpcCode: number;
}

/** The only mapping from error codes to the wire. The protocol itself defines the JSON-RPC codes below -32000. */
export function toWire(code: ErrorCode): WireError {
  switch (code) {
    case "TOOL_INVALID":
    case "CALL_INVALID":
    case "QUERY_INVALID":
    case "INPUT_INVALID":
      return { httpStatus: 400, jsonRpcCode: -32602 };
    case "ARGUMENTS_INVALID":
      return { httpStatus: 422, jsonRpcCode: -32602 };
    case "TOOL_NOT_FOUND":
    case "TOOLSET_NOT_FOUND":
    case "ENSEMBLE_NOT_FOUND":
    case "TENANT_NOT_FOUND":
      return { httpStatus: 404, jsonRpcCode: -32602 };
    case "UNAUTHENTICATED":
      return { httpStatus: 401, jsonRpcCode: -32002 };
    case "SIGN_IN_REQUIRED":
    case "PERMISSION_DENIED":
    case "APPROVAL_INVALID":
      return { httpStatus: 403, jsonRpcCode: -32003 };
    case "CONFIRMATION_REQUIRED":
    case "IDEMPOTENCY_CONFLICT":
    case "TOOL_OWNED":
    case "NAME_TAKEN":
      return { httpStatus: 409, jsonRpcCode: -32004 };
    case "RATE_LIMITED":
    case "QUOTA_EXCEEDED":
      return { httpStatus: 429, jsonRpcCode: -32005 };
    case "CIRCUIT_OPEN":
    case "SOURCE_UNAVAILABLE":
    case "CLOSED":
      return { httpStatus: 503, jsonRpcCode: -32006 };
    case "TIMEOUT":
    case "OUTCOME_UNKNOWN":
      return { httpStatus: 504, jsonRpcCode: -32007 };
    case "CANCELLED":
      return { httpStatus: 499, jsonRpcCode: -32008 };
    case "EXECUTION_FAILED":
    case "CONTEXT_TOO_LONG":
    case "RESULT_TOO_LARGE":
    case "TRANSPORT_FAILED":
    case "PROTOCOL_ERROR":
    case "AGENT_STOPPED":
      return { httpStatus: 502, jsonRpcCode: -32009 };
    case "HANDLER_MISSING":
      return { httpStatus: 409, jsonRpcCode: -32603 };
    case "CONFIG_INVALID":
    case "SERVER_REFUSED":
      return { httpStatus: 422, jsonRpcCode: -32602 };
    case "SANDBOX_FAILED":
    case "STORE_FAILED":
    case "AUDIT_FAILED":
    case "LIBRARY_MISSING":
    case "INTERNAL_ERROR":
      return { httpStatus: 500, jsonRpcCode: -32603 };
  }
}
