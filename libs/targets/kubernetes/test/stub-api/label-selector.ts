export type Labels = Record<string, string> | undefined;

/**
 * Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k` like the API server.
 * @throws Error for an invalid selector
 */
export function selects(selector: string | undefined): (labels: Labels) => boolean {
  const tests = partsOf(selector ?? '').map(testOf);
  return (labels = {}) => tests.every((test) => test(labels));
}

/** Split at commas, but not within `in (…)`. */
const partsOf = (selector: string): string[] =>
  selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

function testOf(part: string): (labels: Record<string, string>) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(part);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    const isIn = operator === 'in';
    return (labels) => (key in labels ? values.includes(labels[key] as string) === isIn : !isIn);
  }
  const equal = /^([^!=\s]+)\s*(!=|==|=)\s*(\S*)$/.exec(part);
  if (equal) {
    const [, key = '', operator, value] = equal;
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const isAbsent = part.startsWith('!');
  const key = isAbsent ? part.slice(1) : part;
  if (/[\s=!()]/.test(key)) throw new Error(`unable to parse requirement: ${part}`);
  return (labels) => key in labels !== isAbsent;
}
