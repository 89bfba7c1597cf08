import { useState } from "preact/hooks";
import type { JsonSchema } from "../../../src/tool/json-schema.ts";
import { isSchema, type Property, propertiesOf, typeOf } from "./schema.ts";

type Values = Readonly<Record<string, unknown>>;

interface FieldProps extends Property {
  readonly value: unknown;
  onChange(value: unknown): void;
}

/** A form for the arguments of a schema. A value without its own kind of field, such as a union, is typed as JSON. */
export function SchemaForm(props: {
  readonly schema: JsonSchema;
  readonly value: Values;
  onChange(value: Values): void;
}) {
  const properties = propertiesOf(props.schema);
  if (properties.length === 0) return <p class="dim">This tool takes no arguments.</p>;
  return <Fields {...props} />;
}

function Fields({ schema, value: values, onChange }: Parameters<typeof SchemaForm>[0]) {
  return (
    <div class="fields">
      {propertiesOf(schema).map((property) => (
        <Field
          key={property.name}
          {...property}
          value={values[property.name]}
          onChange={(value) => {
            const { [property.name]: _old, ...others } = values;
            onChange(value === undefined ? others : { ...others, [property.name]: value });
          }}
        />
      ))}
    </div>
  );
}

function Field(props: FieldProps) {
  const { name, schema, required } = props;
  const title = (
    <>
      <code>{name}</code>
      {required && <span class="required"> required</span>}
      <span class="dim"> {Array.isArray(schema["enum"]) ? "one of" : typeOf(schema)}</span>
    </>
  );
  const description = typeof schema["description"] === "string" && <small class="dim">{schema["description"]}</small>;
  const hasParts = propertiesOf(schema).length > 0 || isList(schema);
  if (!hasParts)
    return (
      <label class="field">
        <span>{title}</span>
        <Control {...props} />
        {description}
      </label>
    );
  return (
    <fieldset class="field">
      <legend>{title}</legend>
      {description}
      {isList(schema) ? (
        <List {...props} />
      ) : (
        <Fields
          schema={schema}
          value={isSchema(props.value) ? props.value : {}}
          onChange={(next) => props.onChange(required || Object.keys(next).length > 0 ? next : undefined)}
        />
      )}
    </fieldset>
  );
}

function isList({ type, items }: JsonSchema): boolean {
  return type === "array" && isSchema(items);
}

function List({ name, schema, required, value, onChange }: FieldProps) {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  /** JSON fields keep their text, so fields that move up after a removal are recreated. */
  const [removed, setRemoved] = useState(0);
  const items = isSchema(schema["items"]) ? schema["items"] : {};
  const replace = (at: number, ...by: readonly unknown[]): void => {
    const next = entries.toSpliced(at, 1, ...by);
    onChange(next.length === 0 && !required ? undefined : next);
  };
  return (
    <>
      {entries.map((entry, index) => (
        <div key={`${removed} ${index}`} class="entry">
          <Field
            name={`${name} ${index + 1}`}
            schema={items}
            required
            value={entry}
            onChange={(next) => replace(index, next ?? "")}
          />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${name} ${index + 1}`}
            onClick={() => {
              setRemoved(removed + 1);
              replace(index);
            }}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => onChange([...entries, emptyOf(items)])}>
        Add {name}
      </button>
    </>
  );
}

/** Returns the initial value of a new list entry. */
function emptyOf(schema: JsonSchema): unknown {
  if (propertiesOf(schema).length > 0) return {};
  return isList(schema) ? [] : "";
}

function Control(props: FieldProps) {
  const { value, onChange, required } = props;
  const schema = simplest(props.schema);
  const choices = schema["enum"];
  if (Array.isArray(choices))
    return (
      <select
        value={value === undefined ? "" : JSON.stringify(value)}
        onChange={({ currentTarget }) =>
          onChange(currentTarget.value === "" ? undefined : (JSON.parse(currentTarget.value) as unknown))
        }
      >
        <option value="">{required ? "Choose…" : "(not set)"}</option>
        {choices.map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {String(choice)}
          </option>
        ))}
      </select>
    );
  switch (schema["type"]) {
    case "string":
      return (
        <input
          type="text"
          value={typeof value === "string" ? value : ""}
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === "" && !required ? undefined : currentTarget.value)
          }
        />
      );
    case "number":
    case "integer":
      return (
        <input
          type="number"
          step={schema["type"] === "integer" ? 1 : "any"}
          value={typeof value === "number" ? value : ""}
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === "" ? undefined : currentTarget.valueAsNumber)
          }
        />
      );
    case "boolean":
      return (
        <select
          value={value === undefined ? "" : String(value)}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === "" ? undefined : currentTarget.value === "true")
          }
        >
          <option value="">(not set)</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      );
    default:
      return <JsonControl value={value} onChange={onChange} />;
  }
}

/** Returns the alternative that a person can type or choose: a choice or a text. */
function simplest(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const isSimple = (each: unknown): boolean =>
    isSchema(each) && (Array.isArray(each["enum"]) || each["type"] === "string");
  return (anyOf as readonly JsonSchema[]).find(isSimple) ?? schema;
}

function JsonControl({ value, onChange }: { readonly value: unknown; onChange(value: unknown): void }) {
  return (
    <textarea
      rows={3}
      spellcheck={false}
      defaultValue={value === undefined ? "" : JSON.stringify(value, null, 2)}
      placeholder="JSON"
      onInput={({ currentTarget }) => {
        const text = currentTarget.value;
        try {
          onChange(text.trim() === "" ? undefined : (JSON.parse(text) as unknown));
          currentTarget.setCustomValidity("");
        } catch (error) {
          currentTarget.setCustomValidity(error instanceof Error ? error.message : "Not valid JSON.");
        }
      }}
    />
  );
}
