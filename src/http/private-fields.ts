/** Header fields of an answer that is for whoever asked alone. */

/** No search engine, no cache and no other site is to learn of it. */
export const PRIVATE_FIELDS = {
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
};
