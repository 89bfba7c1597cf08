import { type EncoderWeights, type Tensor } from "../src/adapters/embedders/kernel/weights.ts";

/**
 * The ONNX model of an encoder with the int8 weights of a weight file and float activations, so that onnxruntime computes the same as the
 * kernel. Input `input_ids` int64 [1, tokens], output `sentence_embedding` float [1, hidden].
 */
export function toOnnx({ architecture, tensors }: EncoderWeights): Uint8Array {
  const { layers, hidden, heads, vocabulary, positions, epsilon } = architecture;
  const nodes: Buffer[] = [];
  const initialisers: Buffer[] = [];
  let count = 0;

  const node = (
    type: string,
    inputs: readonly string[],
    attributes: readonly Buffer[] = [],
    outputs?: readonly string[],
  ) => {
    const names = outputs ?? [`value${count++}`];
    nodes.push(
      message(1, [
        ...inputs.map((name) => text(1, name)),
        ...names.map((name) => text(2, name)),
        text(4, type),
        ...attributes,
      ]),
    );
    return names[0] ?? "";
  };
  const constant = (name: string, type: number, shape: readonly number[], bytes: Uint8Array) => {
    initialisers.push(
      message(5, [...shape.map((size) => integer(1, size)), integer(2, type), text(8, name), field(9, bytes)]),
    );
    return name;
  };
  const floats = (name: string, shape: readonly number[], values: Float32Array) =>
    constant(name, 1, shape, new Uint8Array(values.buffer));
  const integers = (name: string, values: readonly number[]) =>
    constant(name, 7, [values.length], new Uint8Array(BigInt64Array.from(values, BigInt).buffer));
  const get = (name: string): Tensor => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`The weights have no tensor ${name}.`);
    return tensor;
  };
  const copy = (name: string, shape?: readonly number[]) => floats(name, shape ?? get(name).shape, toFloats(get(name)));
  const norm = (input: string, name: string) =>
    node(
      "LayerNormalization",
      [input, copy(`${name}.weight`), copy(`${name}.bias`)],
      [integerAttribute("axis", -1), floatAttribute("epsilon", epsilon)],
    );
  const linear = (input: string, name: string) => {
    const { shape, bytes } = get(name);
    const [outputs = 0, inputs = 0] = shape;
    const scales = toFloats(get(`${name}.scale`));
    const matrix = new Float32Array(outputs * inputs);
    for (let o = 0; o < outputs; o++) {
      for (let i = 0; i < inputs; i++) {
        matrix[i * outputs + o] = (((bytes[o * inputs + i] ?? 0) << 24) >> 24) * (scales[o] ?? 0);
      }
    }
    return node("Add", [node("MatMul", [input, floats(name, [inputs, outputs], matrix)]), copy(`${name}.bias`)]);
  };

  const rows = node(
    "Cast",
    [node("Gather", [constant("tokens", 3, [vocabulary, hidden], get("embeddings.tokens").bytes), "input_ids"])],
    [integerAttribute("to", 1)],
  );
  const scales = node("Gather", [copy("embeddings.tokens.scale", [vocabulary, 1]), "input_ids"]);
  const length = node("Gather", [node("Shape", ["input_ids"]), integers("one", [1])]);
  const axis = integers("zero", [0]);
  const places = node("Slice", [copy("embeddings.positions", [positions, hidden]), axis, length, axis]);
  let states = norm(node("Add", [node("Mul", [rows, scales]), places]), "embeddings.norm");

  const split = integers("heads", [0, 0, heads, hidden / heads]);
  const joined = integers("joined", [0, 0, hidden]);
  const root = floats("root", [1], Float32Array.of(Math.SQRT1_2));
  const half = floats("half", [1], Float32Array.of(0.5));
  const unit = floats("unit", [1], Float32Array.of(1));
  for (let layer = 0; layer < layers; layer++) {
    const parts = [`query${layer}`, `key${layer}`, `value_of_layer${layer}`];
    node("Split", [linear(states, `layers.${layer}.attention.qkv`)], [integerAttribute("axis", -1)], parts);
    const [query = "", key = "", value = ""] = parts.map((part, index) =>
      node(
        "Transpose",
        [node("Reshape", [part, split])],
        [integersAttribute("perm", index === 1 ? [0, 2, 3, 1] : [0, 2, 1, 3])],
      ),
    );
    const shares = node("Softmax", [node("MatMul", [query, key])], [integerAttribute("axis", -1)]);
    const context = node("Transpose", [node("MatMul", [shares, value])], [integersAttribute("perm", [0, 2, 1, 3])]);
    const attended = linear(node("Reshape", [context, joined]), `layers.${layer}.attention.output`);
    states = norm(node("Add", [attended, states]), `layers.${layer}.attention.norm`);
    const up = linear(states, `layers.${layer}.feedforward.up`);
    const erf = node("Add", [node("Erf", [node("Mul", [up, root])]), unit]);
    const activated = node("Mul", [node("Mul", [up, erf]), half]);
    states = norm(
      node("Add", [linear(activated, `layers.${layer}.feedforward.down`), states]),
      `layers.${layer}.feedforward.norm`,
    );
  }
  const mean = node("ReduceMean", [states], [integersAttribute("axes", [1]), integerAttribute("keepdims", 0)]);
  node("LpNormalization", [mean], [integerAttribute("axis", -1), integerAttribute("p", 2)], ["sentence_embedding"]);

  const graph = [
    ...nodes,
    text(2, "encoder"),
    ...initialisers,
    message(11, valueInfo("input_ids", 7, [1, "tokens"])),
    message(12, valueInfo("sentence_embedding", 1, [1, hidden])),
  ];
  return Buffer.concat([integer(1, 8), message(7, graph), message(8, [integer(2, 17)])]);
}

function toFloats({ bytes }: Tensor): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function valueInfo(name: string, type: number, shape: readonly (number | string)[]): readonly Buffer[] {
  const sizes = shape.map((size) => message(1, [typeof size === "number" ? integer(1, size) : text(2, size)]));
  return [text(1, name), message(2, [message(1, [integer(1, type), message(2, sizes)])])];
}

function integerAttribute(name: string, value: number): Buffer {
  return message(5, [text(1, name), integer(3, value), integer(20, 2)]);
}

function integersAttribute(name: string, values: readonly number[]): Buffer {
  return message(5, [text(1, name), ...values.map((value) => integer(8, value)), integer(20, 7)]);
}

function floatAttribute(name: string, value: number): Buffer {
  const bits = Buffer.alloc(5);
  bits[0] = 2 * 8 + 5;
  bits.writeFloatLE(value, 1);
  return message(5, [text(1, name), bits, integer(20, 1)]);
}

// Protobuf: a field is its number and kind, then a varint or a length and that many bytes.
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

function integer(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

function field(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function text(number: number, value: string): Buffer {
  return field(number, Buffer.from(value));
}

function message(number: number, parts: readonly Buffer[]): Buffer {
  return field(number, Buffer.concat(parts));
}
