/** Every error code and its meaning. The list is closed, and `docs/errors.md` has a section for each. */
export const ERROR_CODES = {
  TOOL_INVALID: "A tool definition breaks a rule: name, version, description, examples, schema.",
  TOOL_NOT_FOUND: "No tool of that name is registered, or the caller may not see it.",
  TOOL_OWNED: "The tool belongs to a source or to code, and only its owner may replace or delete it.",
  TOOLSET_NOT_FOUND: "The toolset does not exist, or the caller may not use it.",
  ENSEMBLE_NOT_FOUND: "There is no ensemble of that name.",
  HANDLER_MISSING: "The tool is registered but nothing was given that runs it.",
  ARGUMENTS_INVALID: "The arguments of a call do not match the tool's parameters.",
  CALL_INVALID: "A call is malformed: its name, arguments, timeout, retry count or batch.",
  QUERY_INVALID: "A retrieval query is malformed: its text, limit, threshold or filters.",
  UNAUTHENTICATED: "The request has no credentials, or invalid ones.",
  PERMISSION_DENIED: "Policy refuses the call; the message names the missing grants.",
  CONFIRMATION_REQUIRED: "A person must approve the call before it runs.",
  APPROVAL_INVALID: "The approval is unknown, expired, already used, not the caller's to give, or for other arguments.",
  IDEMPOTENCY_CONFLICT: "The idempotency key was used for a call with other arguments.",
  RATE_LIMITED:
    "A tool was called, or tools were searched for, more often than a limit allows; the message says when to retry.",
  CIRCUIT_OPEN: "The tool failed repeatedly and is left alone until its cool-down ends.",
  TIMEOUT: "The call ran out of time, and running it again is safe.",
  OUTCOME_UNKNOWN:
    "The answer was lost after the call was sent: it may or may not have taken effect. Check before repeating it.",
  CANCELLED: "The caller cancelled the call.",
  EXECUTION_FAILED: "The tool ran and reported an error.",
  CONTEXT_TOO_LONG: "The conversation and its tools are longer than the model can read.",
  RESULT_TOO_LARGE: "The tool ran, and its answer is larger than the limit allows.",
  TRANSPORT_FAILED: "The tool's server or process could not be reached.",
  PROTOCOL_ERROR: "The tool's server answered something its protocol does not allow.",
  SOURCE_UNAVAILABLE: "A source could not be connected or listed; its tools are unavailable until it reconnects.",
  SANDBOX_FAILED: "The sandbox could not start, or stopped the tool for breaking its limits.",
  CONFIG_INVALID: "A configuration value is wrong; the message names the key, the value and the fix.",
  STORE_FAILED: "The tool store could not read or write its data.",
  AUDIT_FAILED: "The record of a call cannot be kept, and without it nothing may run.",
  LIBRARY_MISSING: "An adapter needs a package that is not installed; the message has the npm install line.",
  INPUT_INVALID: "A request, file or command-line value is malformed; the message describes the problem.",
  AGENT_STOPPED: "An agent's run ended without an answer: a budget was used up, or the provider cut off or blocked it.",
  INTERNAL_ERROR: "The gateway failed internally; its log has the details.",
  CLOSED: "The arsenal was closed and takes no more work.",
} as const;

/** One of the codes in the closed list. */
export type ErrorCode = keyof typeof ERROR_CODES;
