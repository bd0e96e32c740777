/** The service below a path of its host, such as `https://example.com/deliverability`, behind a proxy. */

import type { Config } from '../config/config.ts';

export interface BasePath {
  /** The path of a request as the routes declare it. A proxy may pass on the full path or strip the prefix. */
  strip(pathname: string): string;
  /** Adds the prefix to the `Location` of the response and, on pages, to links, forms, and resources. */
  apply(response: Response): Promise<Response>;
}

/**
 * These attributes begin with `/` only in our own templates: text from outside is escaped, so it cannot contain
 * their quotation marks.
 */
const LOCAL_URL = / (href|action|src|data-watch|data-receipt)="\/(?!\/)/g;

/** Metadata of OAuth is at the root of the host, with the path of what it describes at its end (RFC 8414 §3.1). */
const WELL_KNOWN = /^(\/\.well-known\/oauth-[a-z-]+)(\/.+)$/;

/** Null if the service has its host for itself. Declared paths stay without the prefix everywhere else. */
export function basePathOf({ APP_URL }: Pick<Config, 'APP_URL'>): BasePath | null {
  const prefix = new URL(APP_URL).pathname.replace(/\/+$/, '');
  if (prefix === '') return null;
  return {
    strip: (pathname) => {
      const [wellKnown = '', rest = pathname] = WELL_KNOWN.exec(pathname)?.slice(1) ?? [];
      return rest === prefix || rest.startsWith(`${prefix}/`)
        ? wellKnown + rest.slice(prefix.length) || '/'
        : pathname;
    },
    async apply(response) {
      const { headers, status } = response;
      const location = headers.get('location');
      if (location?.startsWith('/') && !location.startsWith('//'))
        headers.set('location', `${prefix}${location}`);
      if (!headers.get('content-type')?.startsWith('text/html')) return response;
      const html = (await response.text()).replace(LOCAL_URL, ` $1="${prefix}/`);
      headers.delete('content-length');
      return new Response(html, { status, headers });
    },
  };
}
