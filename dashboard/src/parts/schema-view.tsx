import type { JsonSchema } from "../../../src/tool/json-schema.ts";
import { Json } from "./json.tsx";
import { isSchema, propertiesOf, typeOf } from "./schema.ts";

/** Shows the parameters of a tool as readable text, followed by the schema itself. */
export function SchemaView({ schema }: { readonly schema: JsonSchema }) {
  return (
    <>
      {propertiesOf(schema).length === 0 ? (
        <p class="dim">This tool takes no arguments.</p>
      ) : (
        <Properties schema={schema} />
      )}
      <details>
        <summary>JSON Schema</summary>
        <Json value={schema} label="JSON Schema" />
      </details>
    </>
  );
}

function Properties({ schema }: { readonly schema: JsonSchema }) {
  return (
    <ul class="schema">
      {propertiesOf(schema).map(({ name, schema: own, required }) => (
        <li key={name}>
          <code>{name}</code> <span class="dim">{typeOf(own)}</span>
          {required && <span class="required"> required</span>}
          {typeof own["description"] === "string" && <div>{own["description"]}</div>}
          <Limits schema={own} />
          <Properties schema={own["type"] === "array" && isSchema(own["items"]) ? own["items"] : own} />
        </li>
      ))}
    </ul>
  );
}

/** Keywords that limit a value. They are shown without changes. */
const LIMITS = ["default", "const", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems"];

function Limits({ schema }: { readonly schema: JsonSchema }) {
  const said = LIMITS.filter((keyword) => schema[keyword] !== undefined).map(
    (keyword) => `${keyword} ${JSON.stringify(schema[keyword])}`,
  );
  return said.length === 0 ? null : <small>{said.join(", ")}</small>;
}
