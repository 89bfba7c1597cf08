import { ArsenalError } from "../../errors/arsenal-error.ts";

/** A token table: a text's vector is the mean of its tokens' rows, scaled to length one. */
export interface StaticTable {
  readonly dimension: number;
  /** The vector of a text's tokens; all zeros where no token counts. */
  embed(tokenIds: Int32Array): Float32Array;
}

/** What a token table is made from. */
export interface StaticTableOptions {
  /** One int8 row a token, in the order of the vocabulary. */
  readonly rows: Int8Array;
  /** One scale a row. */
  readonly scales: Float32Array;
  readonly dimension: number;
  /** Token ids that carry no meaning of their own and are left out: [CLS] and [SEP]. */
  readonly ignore?: readonly number[];
}

/** Makes an embedder of a token table. Plain TypeScript: it answers from the first millisecond. */
export function createStaticTable({ rows, scales, dimension, ignore = [] }: StaticTableOptions): StaticTable {
  if (rows.length !== scales.length * dimension) {
    throw new ArsenalError(
      "INPUT_INVALID",
      `The token table has ${rows.length} values, but ${scales.length} rows of ${dimension} need ${scales.length * dimension}. Reinstall the package or export the table again.`,
      { field: "rows", value: rows.length, fix: "Reinstall the package or export the table again." },
    );
  }
  const factors = scales.slice();
  for (const id of ignore) factors[id] = 0;

  /** The text before this one, since a tool's second text begins with its first: what both have is added up once. */
  let before: Int32Array = new Int32Array(0);
  let sumBefore: Float32Array = new Float32Array(dimension);

  /** The tokens up to the last that counts. */
  function counted(tokenIds: Int32Array): Int32Array {
    let end = tokenIds.length;
    while (end > 0 && (factors[tokenIds[end - 1] ?? 0] ?? 0) === 0) end--;
    return tokenIds.slice(0, end);
  }

  function sumOf(tokenIds: Int32Array): Float32Array {
    const ids = counted(tokenIds);
    const goesOn = ids.length >= before.length && before.every((id, index) => id === ids[index]);
    const sum = goesOn ? sumBefore : new Float32Array(dimension);
    for (let at = goesOn ? before.length : 0; at < ids.length; at++) {
      const id = ids[at] ?? 0;
      const factor = factors[id] ?? 0;
      if (factor === 0) continue;
      const start = id * dimension;
      for (let i = 0; i < dimension; i++) sum[i] = (sum[i] ?? 0) + (rows[start + i] ?? 0) * factor;
    }
    before = ids;
    sumBefore = sum;
    return sum.slice();
  }

  return {
    dimension,
    embed(tokenIds) {
      const sum = sumOf(tokenIds);
      // The mean's division by the number of tokens cancels in the division by the length.
      let squares = 0;
      for (const component of sum) squares += component * component;
      if (squares === 0) return sum;
      const inverse = 1 / Math.sqrt(squares);
      for (let i = 0; i < dimension; i++) sum[i] = (sum[i] ?? 0) * inverse;
      return sum;
    },
  };
}
