import { describe, expect, it } from "vitest";
import { ArsenalError } from "../../errors/arsenal-error.ts";
import { toRequestFailure } from "./check-url.ts";

const URL_ASKED = new URL("https://Api.example.com.:8443/path?token=secret");

function withCode(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

describe("the failure of a request", () => {
  it("names the host and the reason, and keeps the cause", () => {
    const cause = withCode("socket hang up", "ECONNRESET");
    const { code, message, details, cause: kept } = toRequestFailure(cause, URL_ASKED, undefined);
    expect({ code, message, beforeSend: details.beforeSend, kept }).toEqual({
      code: "TRANSPORT_FAILED",
      message: "The request to api.example.com.:8443 failed: socket hang up",
      beforeSend: false,
      kept: cause,
    });
  });

  it("says that nothing was sent where there was no connection, and only there", () => {
    const beforeSend = (error: Error): unknown => toRequestFailure(error, URL_ASKED, undefined).details.beforeSend;
    expect(beforeSend(withCode("x", "ENOTFOUND"))).toBe(true);
    expect(beforeSend(withCode("x", "CERT_HAS_EXPIRED"))).toBe(true);
    expect(beforeSend(withCode("x", "EPIPE"))).toBe(false);
    expect(beforeSend(new Error("x"))).toBe(false);
  });

  it("says how to trust the authority of a certificate that nobody known has signed", () => {
    const error = withCode(
      "unable to verify the first certificate; try --use-system-ca",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    );
    const { message, details } = toRequestFailure(error, URL_ASKED, undefined);
    expect(message).toBe(
      `The request to api.example.com.:8443 failed: unable to verify the first certificate. ${details.fix}`,
    );
    expect(details.fix).toContain("egress.ca_file or NODE_EXTRA_CA_CERTS");
    expect(toRequestFailure(withCode("x", "CERT_HAS_EXPIRED"), URL_ASKED, undefined).details.fix).toBeUndefined();
  });

  it("gives the code where each of several addresses failed and there is no message", () => {
    const error = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
    expect(toRequestFailure(error, URL_ASKED, undefined).message).toBe(
      "The request to api.example.com.:8443 failed: ECONNREFUSED",
    );
  });

  it("is a cancellation where the signal was aborted", () => {
    const cause = new Error("aborted");
    const failure = toRequestFailure(cause, URL_ASKED, AbortSignal.abort());
    expect([failure.code, failure.message, failure.cause]).toEqual([
      "CANCELLED",
      "The request to api.example.com was cancelled",
      cause,
    ]);
    expect(toRequestFailure(cause, URL_ASKED, new AbortController().signal).code).toBe("TRANSPORT_FAILED");
  });

  it("is the refusal itself where the address was refused", () => {
    const refusal = new ArsenalError("PERMISSION_DENIED", "no");
    expect(toRequestFailure(refusal, URL_ASKED, AbortSignal.abort())).toBe(refusal);
  });
});
