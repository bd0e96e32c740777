/** Cloudflare: API v4 with a scoped API token. */

import * as v from 'valibot';
import type { ServerKind } from '../server.ts';

export const cloudflare: ServerKind = {
  name: 'Cloudflare',
  hint: 'Changes records through the API of Cloudflare, with a token that is limited to your zones.',
  fields: [
    {
      ...{ name: 'api_token', kind: 'text', isSecret: true, isRequired: true },
      label: 'API token',
      hint: 'An API token with the permissions Zone.Zone:Read and Zone.DNS:Edit, for these zones only. It is not shown again.',
      documentation:
        'A Cloudflare API token with the permissions Zone.Zone:Read and Zone.DNS:Edit. Responses never include it.',
      example: 'cf-token-0123456789abcdefghijklmnopqrstuvwxyz',
      schema: v.pipe(
        v.string('must be a string'),
        v.trim(),
        v.regex(
          /^[\x21-\x7e]{20,400}$/,
          'must be an API token, 20 to 400 characters without spaces',
        ),
      ),
    },
  ],
  open() {
    throw new Error('in progress');
  },
};
