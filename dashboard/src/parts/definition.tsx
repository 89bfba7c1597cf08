import { useState } from "preact/hooks";
import { gateway } from "../gateway.ts";
import { useAsk } from "./ask.ts";
import { Choice } from "./field.tsx";
import { Failure } from "./failure.tsx";
import { Json } from "./json.tsx";

/** Shows a tool in the format of a model's API, with the losses of the conversion. */
export function Definition({ toolId }: { readonly toolId: string }) {
  const [dialect, setDialect] = useState("openai");
  const { answer: dialects = [dialect] } = useAsk(async () => (await gateway().info()).dialects, []);
  const { answer, error } = useAsk(
    () => gateway().exportTools(dialect, [toolId], { includeRefused: true }),
    [dialect, toolId],
  );
  return (
    <details>
      <summary>Definition</summary>
      <Choice label="Format" value={dialect} values={dialects} onChange={setDialect} />
      {error !== undefined && <Failure error={error} />}
      {answer && (
        <>
          <Json value={answer.tools[0]} label={`Definition for ${dialect}`} />
          {answer.losses.length === 0 ? (
            <p class="dim">{dialect} can express all of it.</p>
          ) : (
            <>
              <p>What {dialect} cannot express:</p>
              <ul class="losses">
                {answer.losses.map(({ action, path, message }) => (
                  <li key={`${path} ${action} ${message}`}>
                    <b>{action}</b> <code>{path === "" ? "/" : path}</code> {message}
                  </li>
                ))}
              </ul>
            </>
          )}
        </>
      )}
    </details>
  );
}
