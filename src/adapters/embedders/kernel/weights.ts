/**
 * The weight file of the shipped encoder. All numbers are little-endian.
 *
 *     0   8 bytes   magic "TAENCODR"
 *     8   uint32    version, 1
 *     12  uint32    length H of the header
 *     16  32 bytes  SHA-256 of everything from byte 48 to the end of the file
 *     48  H bytes   header, UTF-8 JSON: { model, architecture, tensors }
 *     …   zeros     up to the next multiple of 64, where the payload begins
 *     …   payload   the tensors, row-major, each at a multiple of 64 from the payload's beginning, zeros between, nothing after the last
 *
 * `architecture` is { layers, hidden, heads, intermediate, vocabulary, positions, epsilon }; `tensors` is a list of
 * { name, type: "i8" | "f32", shape, offset }, offset counted from the payload's beginning. `tensorShapes` has the names and shapes.
 *
 * An int8 matrix is [outputs][inputs] (PyTorch's Linear.weight) with one float32 scale an output: weight = int8 * scale. -128 is allowed.
 * The token table is [vocabulary][hidden] int8 with one scale a row. `embeddings.positions` is the position table plus row 0 of the token
 * type table. `attention.qkv` stacks query, key and value; the query's scales and biases are divided by the root of the head size.
 */
import { createHash } from "node:crypto";
import { type ArsenalError, fixable } from "../../../errors/arsenal-error.ts";

export interface Architecture {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
  readonly vocabulary: number;
  readonly positions: number;
  readonly epsilon: number;
}

/** A tensor of a weight file. `bytes` are little-endian values of `type`. */
export interface Tensor {
  readonly name: string;
  readonly type: "i8" | "f32";
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

export interface EncoderWeights {
  /** The model's name and version. Vectors of different models are never compared. */
  readonly model: string;
  readonly architecture: Architecture;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

const MAGIC = "TAENCODR";
const VERSION = 1;
const PREFIX = 48;
const ALIGNMENT = 64;

/** Returns all tensors of an encoder, in the order of the file, with type and shape. */
export function tensorShapes(architecture: Architecture): readonly Omit<Tensor, "bytes">[] {
  const { layers, hidden, intermediate, vocabulary, positions } = architecture;
  const f32 = (name: string, ...shape: number[]) => ({ name, type: "f32" as const, shape });
  const norm = (name: string) => [f32(`${name}.weight`, hidden), f32(`${name}.bias`, hidden)];
  const linear = (name: string, outputs: number, inputs: number) => [
    { name, type: "i8" as const, shape: [outputs, inputs] },
    f32(`${name}.scale`, outputs),
    f32(`${name}.bias`, outputs),
  ];
  const layer = (index: number) => [
    ...linear(`layers.${index}.attention.qkv`, 3 * hidden, hidden),
    ...linear(`layers.${index}.attention.output`, hidden, hidden),
    ...norm(`layers.${index}.attention.norm`),
    ...linear(`layers.${index}.feedforward.up`, intermediate, hidden),
    ...linear(`layers.${index}.feedforward.down`, hidden, intermediate),
    ...norm(`layers.${index}.feedforward.norm`),
  ];
  return [
    { name: "embeddings.tokens", type: "i8" as const, shape: [vocabulary, hidden] },
    f32("embeddings.tokens.scale", vocabulary),
    f32("embeddings.positions", positions, hidden),
    ...norm("embeddings.norm"),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
  ];
}

/** Returns the bytes of a weight file. Throws if a tensor is missing or its size does not match the architecture. */
export function writeWeights(
  model: string,
  architecture: Architecture,
  values: ReadonlyMap<string, Uint8Array>,
): Uint8Array {
  checkArchitecture(architecture);
  let end = 0;
  const tensors = tensorShapes(architecture).map(({ name, type, shape }) => {
    const offset = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
    end = offset + byteSize(type, shape);
    return { name, type, shape, offset };
  });
  const header = Buffer.from(JSON.stringify({ model, architecture, tensors }));
  const start = Math.ceil((PREFIX + header.length) / ALIGNMENT) * ALIGNMENT;
  const file = Buffer.alloc(start + end);
  file.write(MAGIC, 0, "latin1");
  file.writeUInt32LE(VERSION, 8);
  file.writeUInt32LE(header.length, 12);
  file.set(header, PREFIX);
  for (const { name, type, shape, offset } of tensors) {
    const bytes = values.get(name);
    if (bytes?.length !== byteSize(type, shape)) {
      throw unreadable(`tensor ${name} has ${bytes?.length ?? 0} bytes, its shape asks for ${byteSize(type, shape)}`);
    }
    file.set(bytes, start + offset);
  }
  file.set(digest(file), 16);
  return file;
}

/** Reads the model from the start of a weight file. The rest of the file may be missing. */
export function readHeader(file: Uint8Array): Pick<EncoderWeights, "model" | "architecture"> {
  const view = checkedStart(file);
  return parseHeader(file.subarray(PREFIX, PREFIX + view.getUint32(12, true)));
}

/** Reads a weight file, and checks its digest and every tensor. The tensors are views into `file`, not copies. */
export function readWeights(file: Uint8Array): EncoderWeights {
  const view = checkedStart(file);
  if (!digest(file).equals(file.subarray(16, PREFIX))) throw unreadable("its checksum does not match: it is damaged");
  const headerEnd = PREFIX + view.getUint32(12, true);
  const start = Math.ceil(headerEnd / ALIGNMENT) * ALIGNMENT;
  const { model, architecture, tensors: listed } = parseHeader(file.subarray(PREFIX, headerEnd));
  checkArchitecture(architecture);
  const offsets = new Map(listed.map((tensor) => [tensor.name, tensor]));
  const tensors = new Map<string, Tensor>();
  for (const { name, type, shape } of tensorShapes(architecture)) {
    const found = offsets.get(name);
    if (found === undefined) throw unreadable(`tensor ${name} is missing`);
    const [given, wanted] = [found, { type, shape }].map((tensor) => `${tensor.type} ${JSON.stringify(tensor.shape)}`);
    if (given !== wanted) throw unreadable(`tensor ${name} is ${given}, not ${wanted}`);
    const from = start + found.offset;
    const end = from + byteSize(type, shape);
    if (!(found.offset >= 0) || end > file.length) throw unreadable(`tensor ${name} reaches past the end of the file`);
    tensors.set(name, { name, type, shape, bytes: file.subarray(from, end) });
  }
  return { model, architecture, tensors };
}

function checkedStart(file: Uint8Array): DataView {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < PREFIX || Buffer.from(file.subarray(0, 8)).toString("latin1") !== MAGIC) {
    throw unreadable("it does not begin with TAENCODR");
  }
  if (view.getUint32(8, true) !== VERSION) {
    throw unreadable(`its version is ${view.getUint32(8, true)}, this package reads version ${VERSION}`);
  }
  return view;
}

interface Header {
  readonly model: string;
  readonly architecture: Architecture;
  readonly tensors: readonly (Omit<Tensor, "bytes"> & { readonly offset: number })[];
}

function parseHeader(bytes: Uint8Array): Header {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8")) as Header;
  } catch (cause) {
    throw unreadable("its header is not JSON", cause);
  }
}

function byteSize(type: Tensor["type"], shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, type === "i8" ? 1 : 4);
}

function digest(file: Uint8Array): Buffer {
  return createHash("sha256").update(file.subarray(PREFIX)).digest();
}

/** The kernel requires widths in multiples of sixteen, and heads in multiples of eight. */
function checkArchitecture(architecture: Architecture): void {
  const { layers, hidden, heads, intermediate, vocabulary, positions, epsilon } = architecture;
  const counts = { layers, hidden, heads, intermediate, vocabulary, positions };
  for (const [name, value] of Object.entries(counts)) {
    if (!Number.isInteger(value) || value < 1)
      throw unreadable(`architecture.${name} is ${value}, not a positive integer`);
  }
  if (hidden % 16 !== 0 || intermediate % 16 !== 0) {
    throw unreadable(`hidden ${hidden} and intermediate ${intermediate} must be multiples of 16`);
  }
  if (hidden % (heads * 8) !== 0)
    throw unreadable(`hidden ${hidden} does not split into ${heads} heads of a multiple of 8`);
  if (!(epsilon > 0)) throw unreadable(`architecture.epsilon is ${epsilon}, not a positive number`);
}

function unreadable(reason: string, cause?: unknown): ArsenalError {
  const problem = `The encoder's weight file cannot be used: ${reason}.`;
  const fix = "Reinstall the package or export the weights again.";
  return fixable("INPUT_INVALID", problem, fix, { field: "weights", cause });
}
