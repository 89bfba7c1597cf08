import type { ComponentChildren } from "preact";

export function Field({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <label class="field">
      {label}
      {children}
    </label>
  );
}

/** A labelled list of choices. A pair is a value and its text. With `all`, the first choice is empty and has this text. */
export function Choice<Value extends string>(props: {
  readonly label: string;
  readonly value: Value | "";
  readonly values: readonly (Value | readonly [value: Value, text: string])[];
  readonly all?: boolean | string;
  onChange(value: Value | ""): void;
}) {
  const { label, value, values, all = false, onChange } = props;
  return (
    <Field label={label}>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value | "")}>
        {all !== false && <option value="">{all === true ? "all" : all}</option>}
        {values
          .map((each) => (typeof each === "string" ? ([each, each] as const) : each))
          .map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
      </select>
    </Field>
  );
}
