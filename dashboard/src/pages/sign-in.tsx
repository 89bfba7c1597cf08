import { useState } from "preact/hooks";
import { signIn } from "../gateway.ts";
import { messageOf } from "../parts/failure.tsx";

/** Asks for an API key. */
export function SignIn() {
  const [problem, setProblem] = useState("");
  return (
    <main class="narrow">
      <h1>Sign in</h1>
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
        <button type="submit">Sign in</button>
        <p role="alert" class="bad">
          {problem}
        </p>
        <p class="dim">
          Create a key with <code>toolarsenal keys create</code>. It is kept in this tab only.
        </p>
      </form>
    </main>
  );
}
