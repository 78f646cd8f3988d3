// Files to save: pictures and tables. Their names are a fixed word and a counter, never text of a trace.
let saved = 0;

function save_as(blob, suffix) {
  const url = URL.createObjectURL(blob), link = document.createElement('a');
  link.href = url;
  link.download = 'traceloom-' + ++saved + suffix;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function save_picture(canvas) {
  canvas.toBlob((blob) => { if (blob) save_as(blob, '.png'); }, 'image/png');
}

// A cell that a spreadsheet would take for a formula gets a quote before it.
function csv_cell(text) {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? '\'' + text : text;
  return /[",\n\r]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
}

export function csv_text(titles, rows) {
  return [titles, ...rows].map((row) => row.map((cell) => csv_cell(String(cell ?? ''))).join(',')).join('\r\n') + '\r\n';
}

export function save_csv(titles, rows) {
  save_as(new Blob([csv_text(titles, rows)], { type: 'text/csv' }), '.csv');
}
