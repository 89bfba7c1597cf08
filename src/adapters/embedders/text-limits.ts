/** How much of a text the shipped models read, in tokens, as they were trained. */
export const TOKEN_LIMITS: { readonly query: number; readonly tool: number } = { query: 256, tool: 192 };
