import { MEDIA_URL_RULES, mediaHostOf, type MediaUrls } from '@slipway/contracts';
import { ArrayField, StringField, type FieldIssue } from '@slipway/platform-http';

const ALLOW = {
  enum: MEDIA_URL_RULES,
  description:
    '`any`: whatever the engine fetches; `data_only`: only `data:` URLs, which name nothing to fetch; `hosts`: these, and http and https URLs of `hosts`',
};
const HOSTS = {
  maxItems: 64,
  unique: true,
  item: { min: 1, max: 255 },
  description:
    'With `hosts`: names of hosts in lower case and ASCII, with a port if it is not 80 for http or 443 for https. `*.` allows every host below a name.',
  example: ['images.example.com', '*.cdn.example', '10.0.0.7:8080'],
};

/** Which URLs of media inference requests may name. The gateways refuse others with 400 `media_url_refused`. */
export class MediaUrlsDto implements MediaUrls {
  @StringField(ALLOW)
  allow: MediaUrls['allow'];

  @ArrayField('string', { ...HOSTS, default: [] })
  hosts: string[];

  static check({ allow, hosts }: MediaUrlsDto): FieldIssue[] {
    if (allow === 'hosts' && hosts.length === 0)
      return [{ field: 'hosts', code: 'min_items', message: 'hosts must name a host; data_only allows none' }];
    if (allow !== 'hosts' && hosts.length > 0)
      return [{ field: 'hosts', code: 'not_applicable', message: `hosts must be empty if allow is ${allow}` }];
    return hosts.flatMap((host, index) => {
      const written = mediaHostOf(host);
      if (written === host) return [];
      const field = `hosts[${index}]`;
      const message =
        written === undefined
          ? `${field} must be a name or address of a host in ASCII, without a scheme, a user or a path`
          : `${field} must be written as ${written}`;
      return [{ field, code: 'host', message }];
    });
  }
}

/** A merge patch of `MediaUrlsDto`. */
export class MediaUrlsPatchDto {
  @StringField({ ...ALLOW, removable: true })
  allow?: MediaUrls['allow'] | null;

  @ArrayField('string', { ...HOSTS, removable: true })
  hosts?: string[] | null;
}
