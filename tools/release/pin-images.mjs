/**
 * Pins images by digest, so that a tag that moves does not change what runs.
 *
 *   node tools/release/pin-images.mjs docker/compose.yaml docker/Dockerfile writes `image:tag@sha256:…` into the
 *   files
 *   node tools/release/pin-images.mjs --check docker/compose.yaml lists unpinned images, without requests
 *   node tools/release/pin-images.mjs --service api=registry.example.com/slipway-api:0.2.0 > compose.release.yaml
 *
 * All or nothing: no file is written before every digest is known. Exits with 1 and prints one line for each problem.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { composeOverride, digestOf, imagesOf, parseReference, pinned } from './image-digests.mjs';

async function pinnedImage(image) {
  return parseReference(image).digest ? image : `${image}@${await digestOf(image)}`;
}

async function pinFiles(paths) {
  const files = paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const images = new Set(files.flatMap(({ text }) => imagesOf(text)));
  const digests = new Map();
  for (const image of images) if (!parseReference(image).digest) digests.set(image, await digestOf(image));
  for (const { path, text } of files) writeFileSync(path, pinned(text, digests));
  for (const [image, digest] of digests) console.error(`${image} is ${digest}`);
}

function check(paths) {
  const open = paths.flatMap((path) =>
    imagesOf(readFileSync(path, 'utf8'))
      .filter((image) => !parseReference(image).digest)
      .map((image) => `${path}: ${image} is not pinned`),
  );
  if (open.length > 0) throw new Error(open.join('\n'));
}

async function override(services) {
  const images = new Map();
  for (const service of services) {
    const [, name, image] = /^([a-z][a-z0-9-]*)=(.+)$/.exec(service) ?? [];
    if (!name) throw new Error(`'${service}' is not NAME=IMAGE`);
    images.set(name, await pinnedImage(image));
  }
  process.stdout.write(composeOverride(images));
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { check: { type: 'boolean' }, service: { type: 'string', multiple: true } },
  });
  if (positionals.length === 0 && !values.service) throw new Error('Pass files, or services as --service NAME=IMAGE');
  if (values.check) check(positionals);
  else if (positionals.length > 0) await pinFiles(positionals);
  if (values.service) await override(values.service);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
