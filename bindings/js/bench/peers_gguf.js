// A tokenizer for a GGUF file without one, for a program that takes texts alone: the token of an id
// is one character, FIRST + id of Unicode.
export const FIRST = 0xf0000; // for private use, 65,534 of them

const utf8 = new TextEncoder();
const u32 = (...list) => new Uint8Array(Uint32Array.from(list).buffer);
const text = (s) => {
  const bytes = utf8.encode(s);
  return [u32(bytes.length, 0), bytes];
};
const TYPES = { bool: 7, string: 8, array: 9 };
const string = (key, s) => [...text(key), u32(TYPES.string), ...text(s)];
const no = (key) => [...text(key), u32(TYPES.bool), Uint8Array.of(0)];

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

/** The bytes of `file` (a Buffer) with `count` tokens. */
export function withTokens(file, count) {
  const old = Buffer.from(joined(string('tokenizer.ggml.model', 'none')));
  const at = file.subarray(0, 1 << 16).indexOf(old);
  if (at < 0) throw new Error('the GGUF file has a tokenizer: take one of ./dev bench peers');
  const entries = [string('tokenizer.ggml.model', 'llama'),
    [...text('tokenizer.ggml.tokens'), u32(TYPES.array, TYPES.string, count, 0),
      ...Array.from({ length: count }, (_, id) => text(String.fromCodePoint(FIRST + id))).flat()],
    no('tokenizer.ggml.add_bos_token'), no('tokenizer.ggml.add_space_prefix')];
  // The data stands at a multiple of 32, and moves by one.
  const bytes = joined(entries.flat()).length - old.length, fill = joined(string('filled', ''));
  entries.push(string('filled', ' '.repeat(-(bytes + fill.length) & 31)));
  const head = Buffer.from(file.subarray(0, at));
  head.writeBigUInt64LE(head.readBigUInt64LE(16) + BigInt(entries.length - 1), 16);
  return Buffer.concat([head, ...entries.flat(), file.subarray(at + old.length)]);
}
