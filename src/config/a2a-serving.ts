import { entry, flag, list, text, whole } from "../adapters/settings.ts";

/** How the arsenal is served as an A2A agent: settings of the section `a2a`. */
export const A2A_SERVING = {
  serveA2a: flag("Whether the agent is also served on a port of its own, a2a_port.", false),
  a2aPort: whole("The agent's own port. Used if serve_a2a is true.", 1, 65_535, 8080),
  name: text("The agent's name on its card.", "ToolArsenal"),
  description: text("What the card says of the agent. The number of tools is added."),
  provider: entry("Who runs the agent.", { organization: text("Its name."), url: text("Its website.") }, [
    "organization",
    "url",
  ]),
  expose: list("Toolsets that other agents can address, by name. Defaults to all.", text("A toolset.")),
  taskTtlS: whole("Seconds that a task is kept after its last change.", 60, 31_536_000, 86_400),
  pushOrigins: list(
    "Origins to which push notifications may be sent although they are private, such as http://10.0.0.7:9000.",
    text("An origin."),
    [],
  ),
  signingKey: text(
    "The private key that signs the agent card, as PEM or JWK: a reference to a secret, such as file:card-key.pem.",
  ),
};
