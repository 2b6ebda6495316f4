import { createHash } from 'node:crypto';

const DOCKER_HUB = 'registry-1.docker.io';
/**
 * An index first, because it lists the image of every platform. The digest of one platform's image would run on no
 * other platform.
 */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
/** The distribution specification asks registries to accept 4 MiB; no index is nearly that large. */
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
const ANSWER_WITHIN_MS = 30_000;

const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * Splits an image reference as Docker does.
 * @returns {{ registry: string, name: string, tag: string, digest: string | undefined }}
 * @throws {Error} if it is invalid, or has no tag: an implicit `latest` is never intended in a release
 */
export function parseReference(text) {
  const [before, digest, more] = text.split('@');
  const slash = before.indexOf('/');
  const first = before.slice(0, slash);
  const hasHost = slash > 0 && (/[.:]/.test(first) || first === 'localhost');
  const rest = hasHost ? before.slice(slash + 1) : before;
  const [path, tag, other] = rest.split(':');
  const name = hasHost || path.includes('/') ? path : `library/${path}`;
  const isWrong =
    more !== undefined || other !== undefined || !NAME.test(name) || (digest !== undefined && !DIGEST.test(digest));
  if (isWrong) throw new Error(`'${text}' is not a reference to an image`);
  if (tag === undefined || !TAG.test(tag)) throw new Error(`'${text}' has no tag`);
  return { registry: hasHost ? first : DOCKER_HUB, name, tag, digest };
}

/**
 * Requests the digest of an image's tag from its registry. It hashes the bytes and does not trust the header. Works for
 * public images only. If a registry needs a login, run `docker buildx imagetools inspect` and write the digest by hand.
 * @returns {Promise<string>} `sha256:…`
 */
export async function digestOf(text) {
  const { registry, name, tag } = parseReference(text);
  const url = `${originOf(registry)}/v2/${name}/manifests/${tag}`;
  let answer = await get(url, { accept: MANIFESTS });
  const challenge = answer.headers.get('www-authenticate');
  if (answer.status === 401 && challenge) {
    await answer.body?.cancel();
    const authorization = `Bearer ${await anonymousToken(challenge, name, text)}`;
    answer = await get(url, { accept: MANIFESTS, authorization });
  }
  if (answer.status !== 200) throw new Error(`${text}: the registry returned ${answer.status}`);
  const digest = `sha256:${createHash('sha256')
    .update(await bodyOf(answer, text))
    .digest('hex')}`;
  const told = answer.headers.get('docker-content-digest');
  if (told !== null && told !== digest) throw new Error(`${text}: the registry reported ${told}, but sent ${digest}`);
  return digest;
}

/** Uses plain HTTP only for this machine, as Docker does. */
function originOf(registry) {
  return /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(registry) ? `http://${registry}` : `https://${registry}`;
}

function get(url, headers) {
  return fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
}

async function anonymousToken(challenge, name, text) {
  const parameter = (key) => new RegExp(`\\b${key}="([^"]*)"`).exec(challenge)?.[1];
  const realm = parameter('realm');
  if (!/^bearer /i.test(challenge) || !realm || !URL.canParse(realm))
    throw new Error(`${text}: the registry requires a login`);
  const url = new URL(realm);
  if (url.protocol !== 'https:' && originOf(url.host) !== url.origin)
    throw new Error(`${text}: the registry issues tokens over plain HTTP`);
  const service = parameter('service');
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', parameter('scope') ?? `repository:${name}:pull`);
  const answer = await get(url, {});
  const body = answer.status === 200 ? JSON.parse(String(await bodyOf(answer, text))) : {};
  const token = body.token ?? body.access_token;
  if (typeof token !== 'string') throw new Error(`${text}: the registry did not issue a token without a login`);
  return token;
}

async function bodyOf(answer, text) {
  const chunks = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > MAX_MANIFEST_BYTES)
      throw new Error(`${text}: the response of the registry is larger than ${MAX_MANIFEST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Matches `image:` in Compose and Helm files, and in Dockerfiles `FROM` and the default of an `ARG` whose name ends in
 * `_IMAGE`. A stage of the same file is not an image.
 */
const IMAGE_LINE = /^([ \t]*image:[ \t]*|ARG\s+\w+_IMAGE=|FROM\s+(?:--platform=\S+\s+)?)(["']?)([^\s"'#]+)\2/gm;

/** The images in a file, as written. A name with `$` is refused if its value is not in the file. */
export function imagesOf(file) {
  const stages = new Set([...file.matchAll(/^FROM\s.*\sAS\s+(\S+)/gim)].map(([, stage]) => stage));
  const images = [...file.matchAll(IMAGE_LINE)].map(([, , , image]) => image);
  const variables = new Set([...file.matchAll(/^ARG\s+(\w+_IMAGE)=/gm)].map(([, name]) => `\${${name}}`));
  const named = images.filter((image) => !stages.has(image) && !variables.has(image) && image !== 'scratch');
  for (const image of named) parseReference(image);
  return [...new Set(named)];
}

/** Returns the file with every image pinned. @param digests by the text of the image */
export function pinned(file, digests) {
  return file.replace(IMAGE_LINE, (line, before, quote, image) => {
    const digest = digests.get(image);
    return digest === undefined ? line : `${before}${quote}${image}@${digest}${quote}`;
  });
}

/**
 * Returns a Compose file that overrides docker/compose.yaml: these services run published images instead of building
 * them.
 * @param images pinned images, by service
 */
export function composeOverride(images) {
  const services = [...images].map(
    ([service, image]) => `  ${service}:\n    build: !reset null\n    image: ${image}\n`,
  );
  return `services:\n${services.join('')}`;
}
