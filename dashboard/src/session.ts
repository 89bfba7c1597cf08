import { BASE, go } from "./router.ts";

const KEY = "toolarsenal.key";
/** Set if the key is a token from the issuer. */
const ISSUED = "toolarsenal.issued";
/** Set from the redirect to the issuer for a new token until the gateway accepts a token. */
const RENEWING = "toolarsenal.renewing";

/** The sign-in data that the gateway wrote into the page. */
interface SignInData {
  /** The name of the sign-in page, if there is one. */
  readonly issuer?: string;
  /** Whether an API key can be entered. */
  readonly keys?: boolean;
  /** The token of a user who just returned from the issuer. */
  readonly token?: string;
  readonly problem?: string;
  /** The location to show. */
  readonly to?: string;
}

const { issuer, keys = true, token, problem = "", to } = read();
if (to !== undefined) go(to, { replace: true });
if (token !== undefined) {
  keep(token);
  sessionStorage.setItem(ISSUED, "");
}

export const ways: { readonly issuer: string | undefined; readonly keys: boolean } = { issuer, keys };

/** The reason why signing in at the issuer has just failed. Otherwise empty. */
export const signInProblem: string = problem;

function read(): SignInData {
  const meta = document.querySelector<HTMLMetaElement>("meta[name=sign-in]");
  meta?.remove();
  return meta === null ? {} : (JSON.parse(meta.content) as SignInData);
}

/** Returns the user's API key or token, which this tab stores until it is closed. */
export const key = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;

export function keep(text: string): void {
  sessionStorage.removeItem(ISSUED);
  sessionStorage.setItem(KEY, text);
}

/** Deletes the sign-in state. Returns whether the issuer still has a session. */
export function forget(): boolean {
  const wasIssued = sessionStorage.getItem(ISSUED) !== null;
  for (const name of [KEY, ISSUED, RENEWING]) sessionStorage.removeItem(name);
  return wasIssued;
}

/** Records that the gateway accepted the token. */
export function accepted(): void {
  sessionStorage.removeItem(RENEWING);
}

let isLeaving = false;

/**
 * Redirects to the issuer for a new token. An issuer with a session responds without a prompt. Returns false if the key is not a token of the issuer,
 * or if the previous new token was not accepted.
 */
export function renew(): boolean {
  if (isLeaving) return true;
  if (sessionStorage.getItem(ISSUED) === null || sessionStorage.getItem(RENEWING) !== null) return false;
  sessionStorage.setItem(RENEWING, "");
  isLeaving = true;
  location.assign(signInAddress());
  return true;
}

/** Returns the sign-in address, which leads back to the current location. */
export function signInAddress(): string {
  return `${BASE}/sign-in?${new URLSearchParams({ to: location.pathname + location.search }).toString()}`;
}

/** Signs out at the issuer, if it has a page for that. */
export function leave(): void {
  isLeaving = true;
  location.assign(`${BASE}/sign-in/out`);
}
