// Numbers as text, digit for digit as src/base/text/number.c writes them: three digits, half rounded as there.

// v / d where half rounds up. Remainders of whole numbers are exact, quotients of large ones are not.
function divide_rounded(v, d) {
  const rest = v % d;
  return (v - rest) / d + (rest >= d - rest ? 1 : 0);
}

// Three digits and the first unit, each 1000 times the one before, that needs no more.
function three_digits(value, units) {
  if (value < 1000) return value + units[0];
  for (let i = 1; i < units.length; i++)
    for (let decimals = 2; decimals >= 0; decimals--) {
      const digits = divide_rounded(value, 10 ** (3 * i - decimals));
      if (digits >= 1000 && !(i === units.length - 1 && decimals === 0)) continue;
      const one = 10 ** decimals, rest = digits % one;
      const fraction = decimals ? '.' + String(rest).padStart(decimals, '0') : '';
      return (digits - rest) / one + fraction + units[i];
    }
  return '';
}

export function human_count(value) {
  return three_digits(value, ['', ' k', ' M', ' G', ' T', ' P', ' E']);
}

export function human_time(value) {
  if (value < 59950000000) return three_digits(value, [' ns', ' us', ' ms', ' s']);
  const seconds = divide_rounded(value, 1e9), minutes = divide_rounded(value, 6e10);
  const two = (n) => String(n).padStart(2, '0');
  if (seconds < 3600) return Math.floor(seconds / 60) + ' min ' + two(seconds % 60) + ' s';
  return Math.floor(minutes / 60) + ' h ' + two(minutes % 60) + ' min';
}

export function human_bytes(value) {
  if (value < 1024) return value + ' B';
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  for (let i = 0; ; i++) {
    const one = 1024 ** (i + 1), rest = value % one;
    const tenths = Math.floor((rest * 10 + one / 2) / one) + (value - rest) / one * 10;
    if (tenths < 10240 || i === units.length - 1)
      return Math.floor(tenths / 10) + '.' + tenths % 10 + ' ' + units[i];
  }
}

export function grouped(value) {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

// printf("%.1f") of 100 * part / whole: exact halves, which only .25 and .75 are, round to even.
export function percent(part, whole) {
  const value = whole > 0 ? 100 * (part / whole) : 0;
  return (value * 4 % 4 === 1 ? Math.floor(value) + '.2' : value.toFixed(1)) + ' %';
}

// Ticks to ns: ticks * 10^9 / hz, exact, half to even.
export function ticks_to_ns(ticks, hz) {
  if (hz === 1e9 || hz === 0) return ticks;
  const exact = ticks * 1e9;
  if (exact <= Number.MAX_SAFE_INTEGER) {
    const rest = exact % hz, low = (exact - rest) / hz;
    return low + (rest * 2 > hz || (rest * 2 === hz && low % 2 === 1) ? 1 : 0);
  }
  const d = BigInt(hz), n = BigInt(ticks) * 1000000000n, rest = n % d * 2n, low = n / d;
  return Number(low + (rest > d || (rest === d && low % 2n === 1n) ? 1n : 0n));
}

// The texts of one unit: "short" as in the tables of report, "long" as in sentences.
export function make_units(meta) {
  const unit = meta.unit, hz = Number(meta.clock.hz), words = meta.words;
  const plural = (v, one, many) => grouped(v) + ' ' + (v === 1 ? one : many);
  const value = unit === 'ns' ? (v) => ticks_to_ns(v, hz) : (v) => v;
  const short = unit === 'ns' ? (v) => human_time(value(v)) : unit === 'bytes' ? human_bytes : human_count;
  const long = unit === 'ns' || unit === 'bytes' ? short
    : unit === 'ticks' ? (v) => human_count(v) + ' ticks'
      : unit === 'instructions' ? (v) => plural(v, 'instruction', 'instructions')
        : (v) => plural(v, words.one, words.many);
  return { unit, value, short, long, calls: (v) => plural(v, words.one, words.many), words };
}

// A duration in units of the axis: 1, 2 or 5 times a power of ten, without digits that say nothing.
export function axis_text(units, ticks) {
  return units.short(ticks).replace(/(\.\d*?)0+(?= |$)/, '$1').replace(/\.(?= |$)/, '');
}
