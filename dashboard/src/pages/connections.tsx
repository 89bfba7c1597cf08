import type { Connection } from "../../../src/serve/connections.ts";
import { request } from "../gateway.ts";
import { Action } from "../parts/action.tsx";
import { useAsk } from "../parts/ask.ts";
import { Badge } from "../parts/badge.tsx";
import { Shown } from "../parts/shown.tsx";
import { place } from "../router.ts";

/** Shows the servers that the user signs in to, and the outcome of a sign-in that has just ended. */
export function Connections() {
  const asked = useAsk(() => request<{ readonly connections: readonly Connection[] }>("GET", "/connections"), []);
  const { query } = place.value;
  const [problem, done, wanted] = ["problem", "signed-in", "server"].map((name) => query.get(name));
  return (
    <>
      <h1>Connections</h1>
      <p>
        Servers that you sign in to yourself. Your calls carry your own sign-in, and nobody else's do. The gateway keeps
        it sealed and never shows it.
      </p>
      {problem && (
        <p role="alert" class="bad">
          {problem}
        </p>
      )}
      {done && <p role="status">You are signed in to {done}. A call that waited for it goes on by itself.</p>}
      <Shown asked={asked}>
        {({ connections }) => (
          <>
            {connections.length === 0 && <p class="dim">No server wants you to sign in.</p>}
            {connections.map((connection) => (
              <Server
                key={connection.server}
                connection={connection}
                isWanted={connection.server === wanted && !connection.signedIn}
                onDone={asked.again}
              />
            ))}
          </>
        )}
      </Shown>
    </>
  );
}

function Server(props: { readonly connection: Connection; readonly isWanted: boolean; onDone(): void }) {
  const { connection, isWanted, onDone } = props;
  const { server, url, signedIn, scope, hasFallback } = connection;
  const path = `/connections/${encodeURIComponent(server)}`;
  async function signIn(): Promise<void> {
    const target = new URL((await request<{ readonly url: string }>("POST", `${path}/sign-in`)).url);
    if (target.protocol !== "https:" && target.protocol !== "http:")
      throw new Error("The server's sign-in page is not a web page.");
    location.assign(target.href);
  }
  return (
    <article class="card" aria-label={server}>
      <h2>
        {server} <Badge state={signedIn ? "signed in" : "signed out"} />
      </h2>
      <p class="dim">
        <code>{url}</code>
        {scope !== undefined && `, with the scopes ${scope}`}
      </p>
      {isWanted && <p role="status">A call of yours waits until you sign in here.</p>}
      {!signedIn && hasFallback && <p>Until you sign in, your calls use the login of the gateway.</p>}
      <p class="actions">
        {signedIn ? (
          <Action
            label="Sign out"
            tone="quiet"
            confirm={{ yes: `Sign out of ${server}`, no: "Stay signed in" }}
            run={() => request("DELETE", path)}
            onDone={onDone}
          />
        ) : (
          <Action label={`Sign in to ${server}`} run={signIn} />
        )}
      </p>
    </article>
  );
}
