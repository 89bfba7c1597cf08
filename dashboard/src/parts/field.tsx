import type { ComponentChildren } from "preact";

/** A labelled form control. */
export function Field({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <label class="field">
      {label}
      {children}
    </label>
  );
}

/** A labelled list to choose from; a pair is a value and its text. With `all`, the first choice is the empty one, with that text. */
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
