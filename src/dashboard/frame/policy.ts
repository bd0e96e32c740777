/** Security header fields of the pages of the web application, except reports. */

import { FORM_REFERRER } from '../../ui/frame.tsx';

/**
 * Style and script come from files of the service. No text of a page can run as code, and no page shows the HTML of
 * a message.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');

export const pageHeaders = (policy: string) => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `${policy}; frame-ancestors 'none'`,
  'referrer-policy': FORM_REFERRER,
  // A browser asks again before it shows a stored page, for example after sign-out.
  'cache-control': 'private, no-cache',
});

export const PAGE_HEADERS = pageHeaders(PAGE_POLICY);
