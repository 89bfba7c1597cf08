import { choice, flag, object, whole } from "../adapters/settings.ts";
import { namesOf } from "./adapter-settings.ts";

/** What `telemetry` takes besides the settings of each sink. */
export const TELEMETRY = {
  enabled: flag(
    "Whether events are written. By default the command line writes them, and the library only when type or level is set.",
  ),
  type: choice("Where they go; console by default.", namesOf("sinks")),
  exposePrometheus: flag("Whether the gateway also serves /metrics, and nothing else, on prometheus_port.", false),
  prometheusPort: whole("That port; 0 takes a free one.", 0, 65_535, 9090),
  debugProtocol: flag("Whether every message to and from MCP servers is an event, mcp-message.", false),
  history: object("What is kept of retrievals and calls, for toolarsenal why and costs.", {
    enabled: flag("Whether they are kept in the state. Defaults to true if the state outlives the process."),
    max: whole("Retrievals and calls kept, over all processes that share the state.", 10, 1_000_000, 10_000),
    maxAgeDays: whole("Days they are kept.", 1, 3650, 7),
    text: flag("Whether the words of requests and errors are kept, without secrets.", true),
  }),
};
