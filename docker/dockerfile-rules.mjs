/** Words in the names of variables that hold secrets. */
const SECRET = /SECRET|PASSWORD|TOKEN|DATABASE_URL|CREDENTIAL/;
/** Folders of state, which the process owns. Everything else belongs to root. */
const STATE = /^install -d (-o node -g node )?-m 0700 (-o node -g node )?\/var\/lib\/slipway$/;

/**
 * Checks what an image may do. Linters of Dockerfiles do not know these rules.
 * @returns {string[]} one sentence for each problem
 */
export function dockerfileProblems(text) {
  const instructions = instructionsIn(text);
  const image = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const problems = [];
  if (!/^[1-9]\d*(:|$)/.test(valuesOf('USER', image).at(-1) ?? ''))
    problems.push('must end as a numbered user other than root');
  if (!valuesOf('HEALTHCHECK', instructions).some((value) => value.includes('/healthz')))
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
