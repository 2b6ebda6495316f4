import jq from '@michaelhomer/jqjs';

/** A part of a filter, as jqjs has parsed it. */
interface FilterPart {
  apply(input: unknown, settings: unknown): Iterable<unknown>;
}
type Parts = Record<string, FilterPart>;
type Apply = (this: Parts & FilterPart, input: unknown, settings: unknown) => Generator<unknown>;

const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined;

/**
 * Differences between jqjs and jq if something is missing: the outermost part of the filter names the class, and the
 * function replaces its method. jqjs exports no classes.
 */
const REPAIRS: readonly (readonly [filter: string, apply: (own: Apply) => Apply])[] = [
  // `.labels[0]` and `.labels[1:2]` without labels are null, not an error.
  ['.a[0]', ofSource],
  ['.a[1:2]', ofSource],
  [
    '.[1:2]',
    (own) =>
      function* (input, settings) {
        if (isMissing(input)) yield null;
        else yield* own.call(this, input, settings);
      },
  ],
  // `.a // "none"` shows the values of the first that are neither null nor false, and the second if there are none.
  [
    '.a // 1',
    () =>
      function* (input, settings) {
        let hasOne = false;
        try {
          for (const value of this['lhs']!.apply(input, settings)) {
            if (isMissing(value) || value === false) continue;
            hasOne = true;
            yield value;
          }
        } catch {
          // An error of the first counts as no value.
        }
        if (!hasOne) yield* this['rhs']!.apply(input, settings);
      },
  ],
  // `.a?` hides errors, and no null.
  [
    '.a?',
    () =>
      function* (input, settings) {
        const values = this['inner']!.apply(input, settings)[Symbol.iterator]();
        for (;;) {
          let next: IteratorResult<unknown>;
          try {
            next = values.next();
          } catch {
            return;
          }
          if (next.done) return;
          yield next.value;
        }
      },
  ],
];

/** Reads the source value by value, and gives only those to the method that exist. */
function ofSource(own: Apply): Apply {
  return function* (input, settings) {
    for (const value of this['lhs']!.apply(input, settings)) {
      if (isMissing(value)) yield null;
      else {
        const lhs: FilterPart = { apply: () => [value] };
        yield* own.call(Object.assign(Object.create(this) as Parts & FilterPart, { lhs }), input, settings);
      }
    }
  };
}

let isRepaired = false;

function repair(): void {
  if (isRepaired) return;
  isRepaired = true;
  for (const [filter, change] of REPAIRS) {
    const prototype = Object.getPrototypeOf(jq.compile(filter).ast) as { apply: Apply };
    prototype.apply = change(prototype.apply);
  }
}

/** Compiles a filter that treats what is missing as jq does. */
export function compileFilter(filter: string): (input: unknown) => Iterable<unknown> {
  repair();
  return jq.compile(filter);
}
