// Sections of the page: base64, gzip, columns of varints; docs/page.md has the bytes.

function from_base64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers up to 2^53 are exact; products, not shifts, since these have 32 bits.
export function read_varints(bytes) {
  let n = 0;
  for (let i = 0; i < bytes.length; i++) n += bytes[i] < 128 ? 1 : 0;
  const out = new Float64Array(n);
  for (let i = 0, at = 0; i < n; i++) {
    let b = bytes[at++];
    if (b < 128) {
      out[i] = b;
      continue;
    }
    let value = b - 128, scale = 128;
    do {
      b = bytes[at++];
      value += (b & 127) * scale;
      scale *= 128;
    } while (b >= 128);
    out[i] = value;
  }
  return out;
}

export function read_signed(bytes) {
  const out = read_varints(bytes);
  for (let i = 0; i < out.length; i++) out[i] = out[i] % 2 ? -(out[i] + 1) / 2 : out[i] / 2;
  return out;
}

// The columns of a section, as bytes.
export async function read_columns(text) {
  const all = await inflate(from_base64(text.trim()));
  let at = 1;
  if (all[0] !== 1) throw new Error('a section of version ' + all[0] + ', which this page does not know');
  const number = () => {
    let value = 0, scale = 1, b;
    do {
      b = all[at++];
      value += (b & 127) * scale;
      scale *= 128;
    } while (b >= 128);
    return value;
  };
  const columns = [], n = number();
  for (let i = 0; i < n; i++) {
    const size = number();
    columns.push(all.subarray(at, at + size));
    at += size;
  }
  return columns;
}

export function read_texts(lengths, bytes) {
  const decoder = new TextDecoder(), texts = [];
  let at = 0;
  for (const length of lengths) {
    texts.push(decoder.decode(bytes.subarray(at, at + length)));
    at += length;
  }
  return texts;
}
