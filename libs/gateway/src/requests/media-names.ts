import { foldedName } from './body-rules.js';

/**
 * Meaning of the strings in a value, by the name of its member. Engines read media in parts of a message, and each has
 * names of its own for them; so the names decide here, wherever they occur, and no `type` next to them.
 */
export enum MediaMode {
  /** No media, unless a name further in says so. */
  None,
  /** A part with media: strings that are URLs of something to fetch count, others may be base64, ids or options. */
  Part,
  /** Every string is a URL. */
  Url,
  /** A part with media if it is an object; a string is only a text. */
  Source,
  /** Nothing in it is media for any engine. */
  Skip,
}

const MODES: ReadonlyMap<string, MediaMode> = new Map([
  // Engines take a URL, a path or base64 for these. Base64 has a `data:` URL too, and a path looks like it.
  ...['image', 'video', 'audio', 'inputimage', 'inputvideo', 'imagepil', 'picture', 'photo', 'img', 'pdf']
    .flatMap((name) => [name, `${name}s`])
    .map((name) => [name, MediaMode.Url] as const),
  ...['path', 'paths'].map((name) => [name, MediaMode.Url] as const),
  ...[
    ...['inputaudio', 'inputaudios', 'inputfile', 'inputfiles', 'file', 'files', 'filedata', 'fileid', 'fileids'],
    ...['inlinedata', 'imagedata', 'audiodata', 'videodata', 'media', 'medias', 'multimodaldata', 'mmdata'],
    ...['s3location', 'attachment', 'attachments', 'frame', 'frames', 'thumbnail', 'thumbnails'],
  ].map((name) => [name, MediaMode.Part] as const),
  ['source', MediaMode.Source],
]);
/** `image_url`, `url`, `fileUri`, `image_urls`, `image_path` and those that an engine adds tomorrow. */
const URL_NAME = /(?:ur[li]s?|href|src|(?:image|img|video|audio|media|file|local)paths?)$/;
/**
 * Members of a message with URLs that no engine fetches: what a model wrote before comes back in them. In this spelling
 * only.
 */
const WRITTEN_BY_MODELS: ReadonlySet<string> = new Set(['annotations', 'tool_calls', 'function_call']);
/** Top-level members whose texts are schemas, or are for people. In this spelling only. */
const WITHOUT_MEDIA: ReadonlySet<string> = new Set([
  ...['tools', 'functions', 'tool_choice', 'function_call', 'metadata'],
  ...['response_format', 'json_schema', 'structured_outputs', 'structural_tag', 'guided_json'],
]);

const KNOWN = new Map<string, MediaMode>();
const MAX_KNOWN = 1_000;
const MAX_KNOWN_NAME = 64;

/** @param name of a member below the top level, after its escapes are resolved */
export function modeOfName(name: string): MediaMode {
  const known = KNOWN.get(name);
  if (known !== undefined) return known;
  const mode = WRITTEN_BY_MODELS.has(name) ? MediaMode.Skip : modeOfFolded(foldedName(name));
  if (KNOWN.size < MAX_KNOWN && name.length <= MAX_KNOWN_NAME) KNOWN.set(name, mode);
  return mode;
}

export function modeOfTopLevel(name: string): MediaMode {
  return WITHOUT_MEDIA.has(name) ? MediaMode.Skip : modeOfFolded(foldedName(name));
}

function modeOfFolded(folded: string): MediaMode {
  return MODES.get(folded) ?? (URL_NAME.test(folded) ? MediaMode.Url : MediaMode.None);
}
