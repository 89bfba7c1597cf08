/** What an index is written to a file as: numbers in bulk, and everything else as JSON text. By name. */
export type Image = Readonly<Record<string, Section>>;
export type Section = string | Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

/** Returns the image with every name under a prefix, so that several fit into one. */
export function under(prefix: string, image: Image): Image {
  return Object.fromEntries(Object.entries(image).map(([name, section]) => [`${prefix}.${name}`, section]));
}

/** Returns the sections below a prefix, under their own names. */
export function below(prefix: string, image: Image): Image {
  const start = `${prefix}.`;
  return Object.fromEntries(
    Object.entries(image).flatMap(([name, section]) =>
      name.startsWith(start) ? [[name.slice(start.length), section]] : [],
    ),
  );
}

/** Reads a section of JSON text. */
export function jsonIn<Value>(image: Image, name: string): Value {
  const section = image[name];
  if (typeof section !== "string") throw new TypeError(`The index has no text ${name}.`);
  return JSON.parse(section) as Value;
}

/** Reads a section of numbers. */
export function numbersIn<Kind extends Exclude<Section, string>>(
  image: Image,
  name: string,
  kind: new (length: number) => Kind,
): Kind {
  const section = image[name];
  if (!(section instanceof kind)) throw new TypeError(`The index has no ${kind.name} ${name}.`);
  return section;
}
