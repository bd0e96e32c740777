/**
 * Replaces the package `joi` in the executable: mailauth needs two rules for strings, and the package adds 250 KB
 * to each thread.
 */

import { isDomainValid } from '@hapi/address';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Like `joi`, accepts a value that is missing, and rejects an empty string. */
const schema = (accepts: (value: string) => boolean, requirement: string) => ({
  validate(value: unknown): { value: unknown; error?: Error } {
    if (value === undefined) return { value };
    if (typeof value === 'string' && value !== '' && accepts(value)) return { value };
    return { value, error: new Error(`"value" must ${requirement}`) };
  },
});

/** mailauth loads the package with `require`, which returns what is exported by name. */
export const string = () => ({
  base64: (_options: { paddingRequired: false }) =>
    schema((value) => BASE64.test(value), 'be a valid base64 string'),
  domain: ({ allowUnicode }: { allowUnicode: boolean; tlds: false }) =>
    schema((value) => isDomainValid(value, { allowUnicode }), 'contain a valid domain name'),
});
