// Reads files of columns with programs that are not ours, and prints their rows: read_columns.mjs NODE_MODULES
//
// Each line of standard input is READER PATH. The answer is a line of JSON: {"columns": [names], "rows": n}, or {"error":
// text}, then a line for each row: a list of null, "i" and a whole number, "r" and the 16 digits of a real number's bits,
// "t" and text, or "b" and bytes in hexadecimal.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const modules = process.argv[2];
const require = createRequire(path.join(modules, 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const eight = new DataView(new ArrayBuffer(8));

const bits = (x) => {
  eight.setFloat64(0, x);
  return eight.getBigUint64(0).toString(16).padStart(16, '0');
};

const hex = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

// A value as the reader gives it.
const shown = (v) => {
  if (v === null || v === undefined) return null;
  if (typeof v === 'bigint') return 'i' + v;
  if (typeof v === 'boolean') return 'i' + Number(v);
  if (typeof v === 'number') return 'r' + bits(v);
  if (typeof v === 'string') return 't' + v;
  if (v instanceof Uint8Array) return 'b' + hex(v);
  if (v.bytes instanceof Uint8Array) return 'b' + hex(v.bytes);
  if (typeof v.nanos === 'bigint') return 'i' + v.nanos;
  throw new Error('a value of ' + v.constructor.name);
};

// Of Arrow, from its column: times are read as whole numbers.
const arrowRows = (table) => {
  const columns = table.schema.fields.map((field, i) => {
    const column = table.getChildAt(i);
    if (!String(field.type).startsWith('Timestamp')) return (row) => shown(column.get(row));
    const starts = [];
    let from = 0;
    for (const data of column.data) {
      starts.push([from, data]);
      from += data.length;
    }
    return (row) => {
      const [start, data] = starts.findLast(([first]) => first <= row);
      return data.getValid(row - start) ? 'i' + new BigInt64Array(data.values.buffer, data.values.byteOffset, data.length)[row - start] : null;
    };
  });
  const rows = [];
  for (let row = 0; row < table.numRows; row++) rows.push(columns.map((get) => get(row)));
  return { columns: table.schema.fields.map((field) => field.name), rows };
};

const fromDuckdb = async (file) => {
  const { DuckDBInstance } = await load('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const name = file.replaceAll("'", "''");
  const types = (await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet('${name}')`)).getRows();
  // Times in nanoseconds, whatever the unit of DuckDB's type.
  const list = types.map(([column, type]) => {
    const quoted = '"' + column.replaceAll('"', '""') + '"';
    return type.startsWith('TIMESTAMP') ? `epoch_ns(${quoted}) AS ${quoted}` : quoted;
  });
  const reader = await connection.runAndReadAll(`SELECT ${list} FROM read_parquet('${name}')`);
  return { columns: types.map(([column]) => column), rows: reader.getRows().map((row) => row.map(shown)) };
};

const fromHyparquet = async (file) => {
  const { parquetMetadataAsync, parquetRead } = await load('hyparquet');
  const { compressors } = await load('hyparquet-compressors');
  const bytes = fs.readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const metadata = await parquetMetadataAsync(buffer);
  const names = metadata.schema.slice(1).map((field) => field.name);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parsers = {
    timestampFromNanoseconds: (nanos) => nanos,
    stringFromBytes: (text) => text && decoder.decode(text),
    jsonFromBytes: (text) => text && decoder.decode(text),
  };
  let rows = [];
  await parquetRead({ file: buffer, metadata, compressors, parsers, utf8: false, rowFormat: 'array', onComplete: (all) => { rows = all; } });
  return { columns: names, rows: rows.map((row) => row.map(shown)) };
};

const fromArrow = async (file) => {
  const { tableFromIPC } = await load('apache-arrow');
  return arrowRows(tableFromIPC(fs.readFileSync(file)));
};

// arrow-rs reads, either format; its answer is Arrow again.
const fromArrowRs = async (file) => {
  const { readParquet, Table } = await load('parquet-wasm');
  const { tableFromIPC } = await load('apache-arrow');
  const bytes = fs.readFileSync(file);
  const table = file.endsWith('.parquet') ? readParquet(bytes) : Table.fromIPCStream(bytes);
  return arrowRows(tableFromIPC(table.intoIPCStream()));
};

// The notes in the description of the file.
const notesFromDuckdb = async (file) => {
  const { DuckDBInstance } = await load('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(`SELECT decode(key), decode(value) FROM parquet_kv_metadata('${file.replaceAll("'", "''")}')`);
  return { columns: ['key', 'value'], rows: reader.getRows().map((row) => row.map(shown)) };
};

const readers = { duckdb: fromDuckdb, 'duckdb-notes': notesFromDuckdb, hyparquet: fromHyparquet, arrow: fromArrow, 'arrow-rs': fromArrowRs };

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [reader, file] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)];
  let text;
  try {
    const { columns, rows } = await readers[reader](file);
    text = JSON.stringify({ columns, rows: rows.length }) + '\n' + rows.map((row) => JSON.stringify(row) + '\n').join('');
  } catch (error) {
    text = JSON.stringify({ error: String(error) }) + '\n';
  }
  await new Promise((done) => process.stdout.write(text, done));
}
