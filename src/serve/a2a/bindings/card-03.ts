import { AgentCard } from "@a2a-js/sdk";
import { LegacyRestTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { type A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";

/**
 * Converts the card to the format of 0.3, with the security fields of both 0.3 bindings. Clients that support both versions also find the interfaces
 * of 1.0.
 */
export async function card03(card: AgentCard): Promise<Readonly<Record<string, unknown>>> {
  // The SDK exports its conversion only through this handler.
  const handler = { getAuthenticatedExtendedAgentCard: async () => card } as unknown as A2ARequestHandler;
  const converted = await new LegacyRestTransportHandler(handler).getAuthenticatedExtendedAgentCard(
    new ServerCallContext(),
  );
  const { securitySchemes, supportedInterfaces } = AgentCard.toJSON(card) as {
    readonly securitySchemes?: Readonly<Record<string, object>>;
    readonly supportedInterfaces?: unknown;
  };
  const schemes = Object.entries(converted.securitySchemes ?? {});
  return {
    ...converted,
    protocolVersion: "0.3.0",
    supportedInterfaces,
    ...(schemes.length > 0 && {
      securitySchemes: Object.fromEntries(
        schemes.map(([name, scheme]) => [name, { ...scheme, ...securitySchemes?.[name] }]),
      ),
    }),
  };
}

/** Returns the card in the format of 1.0, with the additional fields of 0.3, for clients that do not name a version. */
export async function cardOfBoth(card: AgentCard): Promise<Readonly<Record<string, unknown>>> {
  const { signatures: _, ...older } = await card03(card);
  const current = AgentCard.toJSON(card) as Readonly<Record<string, unknown>>;
  const { securitySchemes } = older;
  return { ...older, ...current, ...(securitySchemes !== undefined && { securitySchemes }) };
}
