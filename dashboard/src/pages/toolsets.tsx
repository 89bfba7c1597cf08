import { useId, useRef, useState } from "preact/hooks";
import type { MarkedTool, MarkedToolset, Toolset } from "../../../src/client/index.ts";
import { gateway } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { filterInWords } from "../parts/filter-words.ts";
import { Refused } from "../parts/refused.tsx";
import { Shown } from "../parts/shown.tsx";
import { Time } from "../parts/time.tsx";
import { to } from "../router.ts";

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
            toolsets.map((toolset) => <OneToolset key={toolset.name} toolset={toolset} />)
          )
        }
      </Shown>
    </>
  );
}

function OneToolset({ toolset }: { readonly toolset: MarkedToolset }) {
  const { name, description, filter, view, policy, updatedAt, refused } = toolset;
  const id = useId();
  const conditions = filterInWords(filter);
  return (
    <article class="card" aria-labelledby={id}>
      <h2 id={id}>{name}</h2>
      {refused && (
        <p>
          <Refused refused={refused} /> {refused.reason}
        </p>
      )}
      <p>{description}</p>
      <p class="dim">
        MCP clients use it at <code>/mcp/toolsets/{name}</code>. {inWords(policy)} Last changed <Time at={updatedAt} />.
      </p>
      <p>
        {view === "live"
          ? "It has every tool that meets these conditions. Tools that meet them later join it."
          : "It has the tools that were chosen when it was built."}
      </p>
      <ul>
        {conditions.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      <Members toolset={name} />
    </article>
  );
}

const PAGE = 50;

/** The tools of a toolset, as links, in pages. */
function Members({ toolset }: { readonly toolset: string }) {
  const [wanted, setWanted] = useState(1);
  const listing = useRef<{
    pages: AsyncIterator<readonly MarkedTool[]>;
    tools: MarkedTool[];
    read: number;
    ended: boolean;
  }>(null);
  const asked = useAsk(async () => {
    const all = (listing.current ??= {
      pages: gateway().pages({ toolset, limit: PAGE, includeRefused: true }),
      tools: [],
      read: 0,
      ended: false,
    });
    while (all.read < wanted && !all.ended) {
      const { done, value } = await all.pages.next();
      all.read++;
      all.ended = done === true || value.length < PAGE;
      if (done !== true) all.tools.push(...value);
    }
    return { tools: [...all.tools], more: !all.ended };
  }, [toolset, wanted]);
  return (
    <Shown asked={asked}>
      {({ tools, more }) => (
        <>
          <h3>{more ? `The first ${tools.length} tools` : tools.length === 1 ? "1 tool" : `${tools.length} tools`}</h3>
          <ul class="chips">
            {tools.map(({ id, refused }) => (
              <li key={id}>
                <a href={to("catalog", [id])}>{id}</a> <Refused refused={refused} />
              </li>
            ))}
          </ul>
          {more && (
            <button type="button" class="quiet" onClick={() => setWanted(wanted + 1)}>
              More
            </button>
          )}
        </>
      )}
    </Shown>
  );
}

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
