import type { AgentEvent } from "../../../agent/agent-run.ts";
import { count, harmless } from "../../../errors/show-value.ts";
import { visibleText } from "../../../errors/visible-text.ts";
import type { Terminal } from "../../command.ts";
import { clip, note, styles } from "../../terminal/style.ts";

const WIDTH = 200;

/** Displays the events of a chat: the model's text on stdout, everything else on stderr. With `json`, each event is a line on stdout. */
export function showEvents(terminal: Terminal, json: boolean): (event: AgentEvent) => void {
  const { out, err, environment } = terminal;
  const paint = styles(err, environment);
  let inLine = false;
  let offered: string | undefined;

  /** Ends a line of the model's text before other output. */
  function endLine(): void {
    if (inLine) out.write("\n");
    inLine = false;
  }

  function show(event: AgentEvent): void {
    switch (event.type) {
      case "text":
        // A pipe gets the answer unchanged. A terminal must not interpret control characters in the answer.
        out.write(out.isTTY === true ? harmless(event.text) : event.text);
        inLine = !event.text.endsWith("\n");
        return;
      case "tools-offered": {
        const list = event.tools.map(({ id }) => id).join(", ");
        if (list !== offered) note(terminal, list === "" ? "no tools fit" : `tools: ${list}`);
        offered = list;
        return;
      }
      case "call-started":
        endLine();
        note(terminal, `→ ${clip(`${event.toolName} ${visibleText(JSON.stringify(event.arguments))}`, WIDTH)}`);
        return;
      case "call-finished": {
        const { status, error, latencyMs, toolName } = event.result;
        const isDone = status === "success";
        const why = isDone || status === "pending_confirmation" ? "" : `: ${clip(error?.message ?? "", WIDTH)}`;
        const mark = isDone ? paint.green(status) : paint.yellow(status);
        err.write(`← ${clip(toolName, WIDTH)} ${mark} ${Math.round(latencyMs)} ms${why}\n`);
        return;
      }
      case "finished": {
        endLine();
        const { steps, usage, status } = event;
        const ended = status === "answered" ? "" : `${status}, `;
        note(terminal, `${ended}${count(steps, "step")}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out`);
        return;
      }
      case "step-started":
      case "approval-needed":
    }
  }

  return (event) => void (json ? out.write(`${JSON.stringify(event)}\n`) : show(event));
}
