import { gateway } from "../gateway.ts";
import { useAsk } from "../parts/ask.ts";
import { Json } from "../parts/json.tsx";
import { Shown } from "../parts/shown.tsx";

/** Curated views over the catalog. */
export function Toolsets() {
  const asked = useAsk(() => gateway().toolsets.list(), []);
  return (
    <>
      <h1>Toolsets</h1>
      <Shown asked={asked}>
        {(toolsets) =>
          toolsets.length === 0 ? (
            <p class="dim">There are no toolsets. Declare them under `toolsets` in the configuration.</p>
          ) : (
            toolsets.map(({ name, description, ...rest }) => (
              <article key={name} class="card">
                <h2>{name}</h2>
                <p>{description}</p>
                <p class="dim">
                  MCP clients use it at <code>/mcp/toolsets/{name}</code>
                </p>
                <Json value={rest} label={`Toolset ${name}`} />
              </article>
            ))
          )
        }
      </Shown>
    </>
  );
}
