/** The results of SPF, DKIM and DMARC. */

export const AUTH_RESULTS = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'policy',
  'none',
  'temperror',
  'permerror',
] as const;
/** The result values of RFC 8601 §2.7. */
export type AuthResult = (typeof AUTH_RESULTS)[number];
