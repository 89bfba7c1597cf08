// From manifest.ts, by `npm run derive`:
export { jsonSchemaValidator, type JsonSchemaValidatorOptions } from "./json-schema/json-schema.ts";
// The rest of toolarsenal/validators:
export type { Check, Checked, CompileOptions, Problem, Validator } from "../../execute/validator.port.ts";
