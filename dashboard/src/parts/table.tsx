import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly title: string;
  cell(row: Row): ComponentChildren;
}

/** A table, which becomes a list of cards on small screens. The roles are explicit because `display: block` would remove them. */
export function Table<Row>(props: {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  readonly empty: string;
}) {
  const { rows, columns, caption, keyOf, empty } = props;
  if (rows.length === 0) return <p class="dim">{empty}</p>;
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table role="table">
        <thead>
          <tr role="row">
            {columns.map(({ title }) => (
              <th key={title} role="columnheader" scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map(({ title, cell }) => (
                <td key={title} role="cell" data-title={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
