import { choice, flag, text, whole } from "../adapters/settings.ts";
import { namesOf } from "./adapter-settings.ts";

/** What `telemetry` takes besides the settings of each sink. */
export const TELEMETRY = {
  enabled: flag(
    "Whether events are written. By default the command line writes them, and the library only when type or level is set.",
  ),
  type: choice("Where they go; console by default.", namesOf("sinks")),
  otlpEndpoint: text("Address of the OpenTelemetry collector."),
  serviceName: text("The name events are sent under.", "tool_arsenal"),
  exposePrometheus: flag("Whether the gateway also serves /metrics, and nothing else, on prometheus_port.", false),
  prometheusPort: whole("That port; 0 takes a free one.", 0, 65_535, 9090),
};
