import { parse } from 'yaml';

const NO_NEW_PRIVILEGES = 'no-new-privileges:true';
const SECRET = /PASSWORD|SECRET|TOKEN|_KEY|_URL$/;
/** A password as the default of a variable, or in a URL. */
const DEFAULT_PASSWORD = /\$\{[A-Z_]*(PASSWORD|SECRET|TOKEN|_KEY)[A-Z_]*:?-[^$}]|:\/\/[^/@:$\s]*:[^$@/\s][^@/\s]*@/;
/** Images that run as a user without privileges by themselves. */
const OWN_USER = /^haproxy:/;

/**
 * Checks what a container may do, and which secrets the file shows. Linters of Compose files do not know these rules.
 * @returns {string[]} one sentence for each problem
 */
export function composeProblems(text) {
  return Object.entries(servicesIn(text)).flatMap(([name, service]) => [
    ...rightsProblems(name, service),
    ...hostProblems(name, service),
    ...imageProblems(name, service),
    ...secretProblems(name, service),
    ...portProblems(name, service),
    ...(name === 'redis' ? redisProblems(service) : []),
  ]);
}

function servicesIn(text) {
  return parse(text, { merge: true }).services;
}

function rightsProblems(name, { cap_drop, cap_add = [], privileged, read_only, security_opt = [] }) {
  const problems = [];
  if (!cap_drop?.includes('ALL')) problems.push(`${name} keeps capabilities: set cap_drop: [ALL]`);
  if (cap_add.length > 0) problems.push(`${name} adds the capabilities ${cap_add.join(', ')}`);
  if (privileged) problems.push(`${name} is privileged`);
  if (read_only !== true) problems.push(`${name} can write to its image: set read_only: true`);
  if (!security_opt.includes(NO_NEW_PRIVILEGES)) problems.push(`${name} lacks security_opt ${NO_NEW_PRIVILEGES}`);
  return problems;
}

/** The variables of a service with their values, which are null if Compose takes them from its own environment. */
export function variablesOf({ environment = {} }) {
  if (!Array.isArray(environment)) return Object.entries(environment ?? {});
  return environment.map((line) => {
    const [name] = line.split('=', 1);
    return [name, line.includes('=') ? line.slice(name.length + 1) : null];
  });
}

/** The sources of the mounts of a service. */
export function mountsOf({ volumes }) {
  return (volumes ?? []).map((volume) => (typeof volume === 'string' ? volume.split(':')[0] : (volume.source ?? '')));
}

/** Namespaces, files and devices of the host undo the other restrictions. Only files next to the Compose file may be mounted. */
function hostProblems(name, service) {
  const { security_opt = [], devices = [], group_add = [] } = service;
  const shared = ['network_mode', 'pid', 'ipc', 'uts', 'userns_mode', 'cgroup'].filter(
    (key) => service[key] === 'host',
  );
  const mounts = mountsOf(service);
  const options = security_opt.filter((option) => option !== NO_NEW_PRIVILEGES);
  return [
    ...shared.map((key) => `${name} has the ${key} of the host`),
    ...mounts.filter((from) => /^[/~$]|\.\./.test(from)).map((from) => `${name} mounts ${from} of the host`),
    ...options.map((option) => `${name} has the security_opt ${option}`),
    ...(devices.length + group_add.length > 0 ? [`${name} has devices or groups of the host`] : []),
  ];
}

/** The Dockerfile of an image that is built here sets its user, and has its own check. */
function imageProblems(name, { image, user }) {
  const problems = [];
  if (image !== undefined && !/:[\w.-]*\d/.test(image.split('@')[0]))
    problems.push(`${name} uses ${image}, whose tag names no version`);
  if (user !== undefined && !/^[1-9]\d*(:[1-9]\d*)?$/.test(user)) problems.push(`${name} runs as the user ${user}`);
  if (user === undefined && image !== undefined && !OWN_USER.test(image))
    problems.push(`${name} starts as the user of ${image}, which is root`);
  return problems;
}

/** Values come from .env. A word of a command is in every list of processes, but text that the shell writes to stdin is not. */
function secretProblems(name, { environment = {}, command = [] }) {
  const variables = variablesOf({ environment });
  const isWritten = (value) => !String(value).startsWith('${') || DEFAULT_PASSWORD.test(value);
  const written = variables.filter(([variable, value]) => SECRET.test(variable) && value !== null && isWritten(value));
  if (variables.some(([variable]) => variable === 'POSTGRES_HOST_AUTH_METHOD'))
    written.push(['POSTGRES_HOST_AUTH_METHOD']);
  const words = [command].flat().filter((word) => /\$\{?[A-Z_]*(PASSWORD|SECRET|TOKEN)/.test(word));
  const shown = words.filter((word) => !/<<-?\s*\w+\n/.test(word));
  return [
    ...written.map(([variable]) => `${name} has the value of ${variable} in the file`),
    ...shown.map(() => `${name} has a password among the words of its command`),
  ];
}

/** Without an address of the host, Docker publishes on every interface, past a firewall. */
function portProblems(name, { ports = [] }) {
  return ports
    .filter((port) => !/^(127\.\d+\.\d+\.\d+|\$\{[A-Z_]+:-127\.0\.0\.1\})(:|$)/.test(port.host_ip ?? String(port)))
    .map((port) => `${name} publishes ${port.target ?? port} at another address than loopback`);
}

function redisProblems({ command = [] }) {
  return /\brequirepass\b/.test([command].flat().join(' ')) ? [] : ['redis has no password (requirepass)'];
}
