/** Words in the names of variables that hold secrets. */
const SECRET = /SECRET|PASSWORD|TOKEN|DATABASE_URL|CREDENTIAL/;
/** Folders of state, which the process owns. Everything else belongs to root. */
const STATE = /^install -d -o 1000 -g 1000 -m 0700 \/var\/lib\/slipway$/;

/**
 * Checks what an image may do. Linters of Dockerfiles do not know these rules.
 * @returns {string[]} one sentence for each problem
 */
export function dockerfileProblems(text) {
  const targets = targetsIn(text);
  if (targets.size === 0) return ['has no stage with a name'];
  return [...targets].flatMap(([target, image]) =>
    imageProblems(text, image).map((problem) => (targets.size === 1 ? problem : `${target} ${problem}`)),
  );
}

/** The images that are built: the instructions of each stage that no other stage needs, and of the stages it extends. */
export function targetsIn(text) {
  const stages = new Map();
  let current = [];
  for (const one of instructionsIn(text)) {
    const [, from, stage] = one.name === 'FROM' ? /^(\S+)(?: AS (\S+))?$/i.exec(one.value) : [];
    if (from) stages.set(stage ?? `stage ${stages.size}`, (current = [...(stages.get(from) ?? [])]));
    current.push(one);
  }
  const used = instructionsIn(text).flatMap(({ name, value }) =>
    name === 'FROM' ? value.split(' ', 1) : (/^--from=(\S+)/.exec(value)?.[1] ?? []),
  );
  return new Map([...stages].filter(([stage]) => !used.includes(stage)));
}

function imageProblems(text, image) {
  const instructions = instructionsIn(text);
  const problems = [];
  if (!/^[1-9]\d*(:|$)/.test(valuesOf('USER', image).at(-1) ?? ''))
    problems.push('must end as a numbered user other than root');
  if (!valuesOf('HEALTHCHECK', image).some((value) => value.includes('/healthz')))
    problems.push('has no HEALTHCHECK of /healthz');
  if (/\b(curl|wget)\b/.test(text.replaceAll(/^#.*$/gm, ''))) problems.push('needs curl or wget');
  for (const value of [...valuesOf('ENV', instructions), ...valuesOf('ARG', instructions)]) {
    const secret = value.split(/\W/).find((word) => SECRET.test(word));
    if (secret) problems.push(`sets ${secret}: an image must hold no secret`);
  }
  for (const { name, value } of image) {
    const isOwned = /--ch(own|mod)\b/.test(value) || (name === 'RUN' && !STATE.test(value));
    if (['COPY', 'ADD', 'RUN'].includes(name) && isOwned)
      problems.push(`changes files of the image (${name} ${value}): a process must own none of its code`);
  }
  return problems;
}

/** The instructions of all stages, with their continued lines. */
export function instructionsIn(text) {
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => /^(\S+)\s(.*)$/.exec(line.trim()))
    .map(([, name, value]) => ({ name: name.toUpperCase(), value: value.replaceAll(/\s+/g, ' ').trim() }));
}

/** The values of the instructions with this name. */
export function valuesOf(name, instructions) {
  return instructions.filter((one) => one.name === name).map(({ value }) => value);
}
