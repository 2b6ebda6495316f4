import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';

/**
 * One input, as a recipe: `prefix`, then `unit` again and again up to the size of the input, then `suffix`. A search
 * that is not linear takes its longest for such texts: it reads the units in one way, fails at the end, and tries others.
 *
 * @typedef {{ prefix: string, unit: string, suffix: string }} Attack
 */

/** A quantifier with fewer repetitions takes a bounded time. */
const MANY = 10;
const MOST_PREFIXES = 8;
const CANDIDATES = [...'a0 A1-_./:;,"\'\\%=@|#<>()[]{}*+?!&$^~`z9Zf\t\n\r', '\u0001', '\u00a0', 'é', '\uffff'];
/** Ends that most expressions do not accept, and two that many do. */
const ENDS = ['', '\u0001', '!', ' ', '\n', '"', 'a', '0'];

/** Returns the text of an attack of about this many characters. */
export function textOf({ prefix, unit, suffix }, size) {
  const times = Math.max(1, Math.floor((size - prefix.length - suffix.length) / Math.max(1, unit.length)));
  return prefix + unit.repeat(times) + suffix;
}

/**
 * Derives attacks from an expression. For each part that may repeat: what leads to it, texts that it accepts, and ends
 * that nearly match. Then texts that several parts accept, so that the parts can divide them in many ways.
 * @returns {Attack[]}
 */
export function attacksOn(source, flags) {
  const pattern = parsed(source, flags);
  const parts = repeatedParts(pattern, flags);
  const whole = sampleOf(pattern, flags);
  const attacks = [];
  const add = (prefix, unit, suffix) => unit !== '' && attacks.push({ prefix, unit, suffix });
  for (const { prefixes, units, rest } of parts)
    for (const [prefix, unit] of prefixes.flatMap((one) => units.map((other) => [one, other])))
      for (const suffix of [...ENDS, rest, rest.slice(0, -1), `${rest.slice(0, -1)}\u0001`]) {
        add(prefix, unit, suffix);
        // Many beginnings, each of which reads on as far as the last.
        add('', prefix + unit, suffix);
        add('', `${prefix}${unit.repeat(20)}`, suffix);
      }
  const units = [...new Set(parts.flatMap((part) => part.units))].slice(0, 12);
  for (const one of units) for (const other of units) for (const suffix of ['', '\u0001']) add('', one + other, suffix);
  for (const suffix of ENDS) {
    add('', whole, suffix);
    add('', whole.slice(0, -1), suffix);
    add('', whole.slice(1), suffix);
    for (const letter of new Set([...whole].slice(0, 20))) add('', letter, suffix);
  }
  return unique(attacks);
}

/** Whether an expression has a part that may repeat often; every other takes a bounded time for each character. */
export function isUnbounded(source, flags) {
  return repeatedParts(parsed(source, flags), flags).length > 0;
}

function parsed(source, flags) {
  return new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
}

function repeatedParts(pattern, flags) {
  const found = [];
  visitRegExpAST(pattern, {
    onQuantifierEnter(node) {
      if (node.max < MANY) return;
      const units = unitsOf(node.element, flags).filter((unit) => unit !== '');
      if (units.length > 0) found.push({ prefixes: besides(node, flags, -1), units, rest: besides(node, flags, 1)[0] });
    },
  });
  return found;
}

/**
 * Texts for what is before (-1) or after (1) a node, in its own alternative and those around it. Each differs from the
 * first in one element.
 */
function besides(node, flags, side) {
  let near = [];
  for (let at = node; at.parent; at = at.parent) {
    if (at.parent.type !== 'Alternative') continue;
    const { elements } = at.parent;
    const index = elements.indexOf(at);
    near = side < 0 ? [...elements.slice(0, index), ...near] : [...near, ...elements.slice(index + 1)];
  }
  const samples = near.map((one) => sampleOf(one, flags));
  const others = near.flatMap((one, index) => unitsOf(one, flags).map((unit) => samples.with(index, unit)));
  return [...new Set([samples, ...others].map((texts) => texts.join('')))].slice(0, MOST_PREFIXES);
}

function unitsOf(element, flags) {
  if (element.type === 'Group' || element.type === 'CapturingGroup')
    return element.alternatives.map((one) => sampleOf(one, flags));
  if (element.type === 'Quantifier') return unitsOf(element.element, flags);
  if (element.type === 'Assertion' || element.type === 'Backreference') return [];
  return charactersOf(element, flags).slice(0, 5);
}

/** Some characters that a character class, a set or a character accepts: of different kinds, if there are. */
function charactersOf(node, flags) {
  if (node.type === 'Character') return [String.fromCodePoint(node.value)];
  const single = new RegExp(`^(?:${node.raw})$`, flags.replace(/[gy]/g, ''));
  const own = (node.elements ?? []).flatMap(({ value, min }) => [value, min?.value]).filter(Number.isInteger);
  const candidates = [...CANDIDATES, ...own.map((code) => String.fromCodePoint(code))];
  const fitting = candidates.filter((one) => single.test(one));
  const kinds = [/[a-z]/, /\d/, /\s/, /[^\w\s]/, /./].map((kind) => fitting.find((one) => kind.test(one)));
  return [...new Set([...kinds, ...fitting.slice(-2)])].filter((one) => one !== undefined);
}

/** A text that the node accepts, without regard to look-arounds and back references. */
function sampleOf(node, flags) {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return sampleOf(node.alternatives[0], flags);
    case 'Alternative':
      return node.elements.map((one) => sampleOf(one, flags)).join('');
    case 'Quantifier':
      return sampleOf(node.element, flags).repeat(Math.min(100, Math.max(node.min, Math.min(1, node.max))));
    case 'Assertion':
    case 'Backreference':
      return '';
    default:
      return charactersOf(node, flags)[0] ?? '';
  }
}

/** Attacks from texts that mean something to a parser: each alone, in pairs, and nested. @returns {Attack[]} */
export function attacksFrom(atoms) {
  const attacks = [];
  for (const unit of atoms)
    for (const prefix of ['', ...atoms])
      for (const suffix of ['', '\u0001', '\n']) {
        attacks.push({ prefix, unit, suffix });
        if (prefix !== '') attacks.push({ prefix: '', unit: prefix + unit, suffix });
      }
  return unique(attacks);
}

/** An attack that no rule suggests: a few atoms in any order. @returns {Attack} */
export function randomAttack(atoms, random) {
  const few = (most) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => atoms[Math.floor(random() * atoms.length)]).join(
      '',
    );
  return { prefix: few(3), unit: few(5) || atoms[0], suffix: few(3) };
}

function unique(attacks) {
  return [...new Map(attacks.map((attack) => [JSON.stringify(attack), attack])).values()];
}
