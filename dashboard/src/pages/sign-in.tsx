import { useState } from "preact/hooks";
import { signedOutBecause, signIn } from "../gateway.ts";
import { messageOf } from "../parts/failure.tsx";
import { signInAddress, ways } from "../session.ts";

/** Signs the user in at the issuer or with an API key, whichever the gateway accepts. */
export function SignIn() {
  return (
    <main class="narrow">
      <h1>Sign in</h1>
      <p role="alert" class="bad">
        {signedOutBecause}
      </p>
      {ways.issuer !== undefined && (
        <p>
          <a class="button" href={signInAddress()} target="_self">
            Sign in with {ways.issuer}
          </a>
        </p>
      )}
      {ways.issuer !== undefined && ways.keys && <p class="dim">or use an API key:</p>}
      {ways.keys && <KeyForm />}
    </main>
  );
}

function KeyForm() {
  const [problem, setProblem] = useState("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const key = new FormData(event.currentTarget).get("key");
        signIn(String(key)).catch((error: unknown) => setProblem(messageOf(error)));
      }}
    >
      <label>
        API key
        <input name="key" type="password" autocomplete="current-password" required />
      </label>
      <button type="submit" class={ways.issuer === undefined ? "" : "quiet"}>
        Sign in
      </button>
      <p role="alert" class="bad">
        {problem}
      </p>
      <p class="dim">
        Create a key with <code>toolarsenal keys create</code>. It is kept in this tab only.
      </p>
    </form>
  );
}
