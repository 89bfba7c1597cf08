import type { JsonSchema } from "../../../src/tool/json-schema.ts";

type Values = Readonly<Record<string, unknown>>;

interface FieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly value: unknown;
  onChange(value: unknown): void;
}

/** A form for the arguments that a schema describes. What has no field of its own (objects, lists, unions) is typed as JSON. */
export function SchemaForm(props: {
  readonly schema: JsonSchema;
  readonly value: Values;
  onChange(value: Values): void;
}) {
  const properties = (props.schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (props.schema["required"] ?? []) as readonly string[];
  const names = Object.keys(properties);
  if (names.length === 0) return <p class="dim">This tool takes no arguments.</p>;
  return (
    <div class="fields">
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          schema={properties[name] ?? {}}
          required={required.includes(name)}
          value={props.value[name]}
          onChange={(value) => {
            const { [name]: _old, ...others } = props.value;
            props.onChange(value === undefined ? others : { ...others, [name]: value });
          }}
        />
      ))}
    </div>
  );
}

function Field(props: FieldProps) {
  const { name, schema, required } = props;
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  return (
    <label class="field">
      <span>
        <code>{name}</code>
        {required && <span class="required"> required</span>}
        <span class="dim"> {typeOf(schema)}</span>
      </span>
      <Control {...props} />
      {description !== "" && <small class="dim">{description}</small>}
    </label>
  );
}

function typeOf(schema: JsonSchema): string {
  const type = schema["type"];
  if (Array.isArray(schema["enum"])) return "one of";
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" or ") : "JSON";
}

function Control({ schema, value, onChange, required }: FieldProps) {
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
