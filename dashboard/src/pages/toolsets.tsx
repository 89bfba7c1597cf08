import type { Toolset } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { Json } from "../parts/json.tsx";
import { Shown } from "../parts/shown.tsx";
import { Time } from "../parts/time.tsx";

/** Curated views over the catalog. */
export function Toolsets() {
  const asked = useAsk(() => gateway().toolsets.list(), []);
  return (
    <>
      <h1>Toolsets</h1>
      <Shown asked={asked}>
        {(toolsets) =>
          toolsets.length === 0 ? (
            <p class="dim">
              There are no toolsets. Declare them under <code>toolsets</code> in the configuration.
            </p>
          ) : (
            toolsets.map(({ name, description, filter, view, policy, updatedAt }) => (
              <article key={name} class="card">
                <h2>{name}</h2>
                <p>{description}</p>
                <p class="dim">
                  MCP clients use it at <code>/mcp/toolsets/{name}</code>
                </p>
                <p>
                  {view === "live" ? "Live: tools that match later join it." : "Frozen: its tools do not change."}{" "}
                  {inWords(policy)} Last changed <Time at={updatedAt} />.
                </p>
                <p>Tools that match:</p>
                <Json value={filter} label={`Filter of ${name}`} />
              </article>
            ))
          )
        }
      </Shown>
    </>
  );
}

/** Who may use a toolset, and how often. */
function inWords({ allowedRoles, allowedTenants, rateLimit, auditLog }: Toolset["policy"]): string {
  const who = [
    allowedRoles && `the roles ${allowedRoles.join(", ")}`,
    allowedTenants && `the tenants ${allowedTenants.join(", ")}`,
  ].filter(Boolean);
  const sentences = [`For ${who.length === 0 ? "everybody" : who.join(" of ")}.`];
  if (rateLimit) sentences.push(`At most ${rateLimit.requestsPerMinute} calls a minute.`);
  if (auditLog === true) sentences.push("Calls that cannot be recorded are refused.");
  return sentences.join(" ");
}
