/** Responses with a page of the web application: layout, security headers, and caching only with revalidation. */

import type { ComponentChildren } from 'preact';
import { type AppError, ERROR_STATUS } from '../../lib/errors.ts';
import { FORM_REFERRER, renderPage } from '../../ui/frame.tsx';
import { ASSETS } from './assets.ts';
import { Notice } from './form.tsx';
import { PAGE_POLICY, pageHeaders } from './policy.ts';

interface PageOptions {
  /** Used as the heading too. */
  title: string;
  status?: number;
  /** Header fields beyond those of every page. */
  headers?: Record<string, string>;
  children: ComponentChildren;
  /** `strict-origin` by default. With `no-referrer`, forms of the page send no origin. */
  referrer?: string;
  /** For pages with more text than a form. */
  wide?: boolean;
  /** Leaves out the links to pages that the preview surface does not serve. */
  isPreview?: boolean;
  /** The Content-Security-Policy. Default: `PAGE_POLICY`. */
  policy?: string;
  /** Cards below the first. */
  more?: ComponentChildren;
}

/** A page with a card. Error pages start their title with "Error: ", which screen readers read first. */
export function pageResponse(options: PageOptions): Response {
  const { title, status = 200, headers = {}, children, wide, more } = options;
  const { referrer = FORM_REFERRER, isPreview = false, policy = PAGE_POLICY } = options;
  const html = renderPage({
    title: `${status < 400 ? '' : 'Error: '}${title} · Deliverability`,
    skip: 'Skip to content',
    style: '',
    csp: policy,
    referrer,
    assets: ASSETS,
    main: (
      <div class={wide ? 'cards wide' : 'cards'}>
        <div class="card form">
          <h1>{title}</h1>
          {children}
        </div>
        {more}
      </div>
    ),
    foot: <FooterLinks isPreview={isPreview} />,
  });
  return new Response(html, {
    status,
    headers: {
      ...pageHeaders(policy),
      'referrer-policy': referrer,
      ...(status < 400 ? {} : { 'cache-control': 'no-store' }),
      ...headers,
    },
  });
}

export const FooterLinks = ({ isPreview }: { isPreview: boolean }) => (
  <>
    {!isPreview && <a href="/">Home</a>}
    {!isPreview && <a href="/help">Help</a>}
    {!isPreview && <a href="/docs">API reference</a>}
    <a href="/openapi.json">OpenAPI document</a>
  </>
);

/** Redirects to a page after a form was processed (303). */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location } });
}

/** Returns the path to return to if it is one of this service, else `/`: anyone may have written the link or form. */
export function localPath(next: string | undefined): string {
  if (next === undefined || next.length > 2000) return '/';
  // Browsers read a second slash or a backslash as the beginning of a host name.
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.includes('\\') ? next : '/';
}

// The page for a link with a token that is unknown or no longer valid.

interface NextLink {
  href: string;
  text: string;
}

/** 404 for an unknown link, 410 for one that was used, revoked or replaced, or has expired. */
export function invalidLinkPage({ code, detail }: AppError, next: NextLink): Response {
  return pageResponse({
    title: "This link doesn't work",
    status: ERROR_STATUS[code],
    // The path contains a token that may have been valid once.
    referrer: 'no-referrer',
    headers: { 'x-robots-tag': 'noindex' },
    children: (
      <>
        <Notice tone="fail">{detail}</Notice>
        {code === 'not_found' && <p>Check that you copied the complete link from the email.</p>}
        <p class="links">
          <a href={next.href}>{next.text}</a>
        </p>
      </>
    ),
  });
}
