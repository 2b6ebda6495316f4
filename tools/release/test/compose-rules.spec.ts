import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';

interface Rules {
  composeProblems(text: string): string[];
}

const DOCKER = path.resolve(import.meta.dirname, '../../../docker');
const { composeProblems } = (await import(path.join(DOCKER, 'compose-rules.mjs'))) as Rules;
const compose = readFileSync(path.join(DOCKER, 'compose.yaml'), 'utf8');

/** The file with this change in one service. */
function changed(service: string, from: string | RegExp, to: string): string {
  const start = compose.indexOf(`\n  ${service}:\n`, compose.indexOf('\nservices:'));
  const end = compose.slice(start + 1).search(/\n(?: {2})?[a-z]+:\n/) + start + 1;
  const block = compose.slice(start, end);
  expect(block).toMatch(from);
  return compose.slice(0, start) + block.replace(from, to) + compose.slice(end);
}

it('finds nothing in compose.yaml', () => {
  expect(composeProblems(compose)).toEqual([]);
});

it.each([
  ['postgres', 'cap_drop: [ALL]', 'cap_drop: [NET_RAW]', 'postgres keeps capabilities'],
  ['postgres', 'read_only: true', 'read_only: false', 'postgres can write to its image'],
  ['redis', "security_opt: ['no-new-privileges:true']", 'privileged: true', 'redis lacks security_opt'],
  ['redis', "security_opt: ['no-new-privileges:true']", 'privileged: true', 'redis is privileged'],
  ['redis', 'cap_drop: [ALL]', 'cap_drop: [ALL]\n    cap_add: [SETUID]', 'redis adds the capabilities SETUID'],
  ['redis', 'requirepass', 'masterauth', 'redis has no password'],
  ['redis', "user: '999:1000'", "user: '0:0'", 'redis runs as the user 0:0'],
  ['redis', /\n +user: '999:1000'/, '', 'redis starts as the user of redis:7.4-alpine@sha256:'],
  ['api', 'networks:', "user: '0:0'\n    networks:", 'api runs as the user 0:0'],
  ['api', 'networks:', 'user: root\n    networks:', 'api runs as the user root'],
  ['api', 'networks:', 'pid: host\n    networks:', 'api has the pid of the host'],
  ['gateway', /networks:.*/, 'network_mode: host', 'gateway has the network_mode of the host'],
  ['api', 'volumes:', 'volumes:\n      - /var/run/docker.sock:/docker.sock', 'api mounts /var/run/docker.sock'],
  ['api', 'volumes:', 'volumes:\n      - {type: bind, source: /, target: /host}', 'api mounts / of the host'],
  ['api', 'networks:', 'devices: [/dev/kvm]\n    networks:', 'api has devices or groups of the host'],
  ['redis', "['no-new-privileges:true']", "['no-new-privileges:true', 'seccomp:unconfined']", 'seccomp:unconfined'],
  ['redis', /redis:7\.4-alpine\S+/, 'redis:latest', 'whose tag names no version'],
  ['redis', /redis:7\.4-alpine\S+/, 'redis', 'whose tag names no version'],
  ['edge', 'host_ip: ${SLIPWAY_HOST:-127.0.0.1}', 'mode: host', 'edge publishes 7070 at another address'],
  ['edge', 'host_ip: ${SLIPWAY_HOST:-127.0.0.1}', 'host_ip: 0.0.0.0', 'edge publishes 7070 at another address'],
  ['postgres', '${POSTGRES_PASSWORD:?see .env.example}', 'postgres', 'postgres has the value of POSTGRES_PASSWORD'],
  [
    'postgres',
    '${POSTGRES_PASSWORD:?see .env.example}',
    '${POSTGRES_PASSWORD:-postgres}',
    'value of POSTGRES_PASSWORD',
  ],
  ['postgres', 'POSTGRES_USER: slipway', 'POSTGRES_HOST_AUTH_METHOD: trust', 'value of POSTGRES_HOST_AUTH_METHOD'],
  [
    'redis',
    'REDIS_PASSWORD: ${REDIS_PASSWORD:?see .env.example}',
    '- REDIS_PASSWORD=secret',
    'value of REDIS_PASSWORD',
  ],
  ['worker', 'redis://:${REDIS_PASSWORD:?see .env.example}@', 'redis://:secret@', 'value of REDIS_URL'],
])('finds a change of %s: %s becomes %s', (service, from, to, problem) => {
  expect(composeProblems(changed(service, from, to)).join('\n')).toContain(problem);
});

it('finds a password in the words of a command', () => {
  const shown = compose.replace(
    /command:\n {6}- sh[\s\S]*?END\n\s+restart/,
    'command: [redis-server, --requirepass, "${REDIS_PASSWORD}"]\n    restart',
  );
  expect(shown).not.toBe(compose);
  expect(composeProblems(shown)).toEqual(['redis has a password among the words of its command']);
});
