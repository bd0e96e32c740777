/** Responses with a page of the web application: layout, security headers, and caching only with revalidation. */

import type { ComponentChildren } from 'preact';
import type { Config } from '../config/config.ts';
import type { Problem } from '../http/problem.ts';
import { type AppError, ERROR_STATUS } from '../lib/errors.ts';
import { FORM_CSP, FORM_REFERRER, renderPage } from '../report/html/frame.tsx';
import { Notice } from './form.tsx';

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
  /** Cards below the first. */
  more?: ComponentChildren;
}

/** A page with a card. Error pages start their title with "Error: ", which screen readers read first. */
export function pageResponse(options: PageOptions): Response {
  const { title, status = 200, headers = {}, children, wide, more } = options;
  const { referrer = FORM_REFERRER, isPreview = false } = options;
  const html = renderPage({
    title: `${status < 400 ? '' : 'Error: '}${title} · Deliverability`,
    skip: 'Skip to content',
    style: FORM_STYLE,
    csp: FORM_CSP,
    referrer,
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
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${FORM_CSP}; frame-ancestors 'none'`,
      'referrer-policy': referrer,
      // A browser asks again before it shows a stored page, for example after sign-out.
      'cache-control': status < 400 ? 'private, no-cache' : 'no-store',
      ...headers,
    },
  });
}

const FooterLinks = ({ isPreview }: { isPreview: boolean }) => (
  <>
    {!isPreview && <a href="/">Home</a>}
    {!isPreview && <a href="/docs">API reference</a>}
    <a href="/openapi.json">OpenAPI document</a>
  </>
);

/** Redirects to a page after a form was processed (303). */
export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location } });
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

// Error pages for browsers. API clients get a problem document instead.

/** After a rejected cross-origin form, the home link leads to the configured address of the service. */
export function problemPage(problem: Problem, { APP_URL }: Pick<Config, 'APP_URL'>): Response {
  const { title, status, detail, code, request_id } = problem;
  return pageResponse({
    title,
    status,
    // The path may contain a link token, and the page has no form that needs an origin.
    referrer: 'no-referrer',
    children: (
      <>
        <Notice tone="fail">{detail}</Notice>
        <p class="small muted">
          Request ID: <code>{request_id}</code>
        </p>
        <p class="links">
          <a href={code === 'forbidden' ? APP_URL : '/'}>Go to the home page</a>
        </p>
      </>
    ),
  });
}

// Styles of pages with forms, in addition to those of every page.

const FORM_STYLE = `
main { padding: 32px 0 0; outline: none; }
.cards { max-width: 480px; margin: 0 auto; }
.cards.wide { max-width: 640px; }
.cards > * + * { margin-top: 24px; }
.foot .wrap { justify-content: center; }
.foot a { display: inline-block; padding: 4px 0; color: inherit; }
.form { padding: 32px; }
.form > * + *, form > * + * { margin-top: 20px; }
.form > h1 + p { margin-top: 8px; }
.field > label { display: block; font-weight: 600; }
.field > .hint { margin-bottom: 4px; color: var(--muted); font-size: 14px; }
.field > .wrong { margin-bottom: 4px; color: var(--fail); font-size: 14px; font-weight: 600; }
.field > input { display: block; width: 100%; min-height: 44px; padding: 8px 12px; border: 1px solid var(--strong-line); border-radius: 8px; background: var(--surface); color: var(--ink); font: 16px/1.5 var(--sans); }
.field > input:focus { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 8px; }
.field > input[aria-invalid="true"] { border: 2px solid var(--fail); padding: 7px 11px; }
.field > input[readonly] { border-color: var(--line); background: var(--sunken); color: var(--muted); }
.field > .hint + input, .field > .wrong + input, .field > label + input { margin-top: 4px; }
.submit { width: 100%; min-height: 44px; padding: 8px 20px; border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: var(--page); font: 600 16px/1.5 var(--sans); cursor: pointer; }
a.submit { display: block; text-align: center; text-decoration: none; }
.submit:hover { text-decoration: underline; text-underline-offset: 3px; }
.submit:focus-visible { border-radius: 8px; }
.submit.secondary { border-color: var(--strong-line); background: var(--surface); color: var(--ink); }
.notice { display: flex; gap: 8px; padding: 12px; border: 1px solid var(--tone); border-radius: 8px; background: var(--soft); }
.notice > .icon { margin-top: 4px; color: var(--tone); }
.notice > p { min-width: 0; }
.links { display: flex; flex-wrap: wrap; gap: 4px 20px; }
.links a { display: inline-block; padding: 4px 0; }
.steps { counter-reset: step; }
.steps > li { position: relative; padding-left: 32px; counter-increment: step; }
.steps > li + li { margin-top: 20px; }
.steps > li::before { content: counter(step) "."; position: absolute; left: 0; font-weight: 600; }
.steps .box { margin-top: 8px; }
.form > p + .box { margin-top: 8px; }
.command code { white-space: pre-wrap; }
@media (min-width: 641px) {
  .wide .submit { display: inline-block; width: auto; min-width: 160px; }
}
@media (max-width: 640px) {
  main { padding: 16px 0 0; }
  .steps > li { padding-left: 0; }
  .steps > li::before { position: static; float: left; margin-right: 8px; }
  .command .copyable { flex-direction: column; align-items: stretch; }
  .command .copy { align-self: flex-start; }
  .form { padding: 20px 16px; }
}
`;
