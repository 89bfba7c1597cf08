/** The path of the REST API. */
export const BASE = "/api/v1";
