/** Stylesheet and script of the pages, under names that change with their content. */

import { createHash } from 'node:crypto';
import { route } from '../../http/route.ts';
import { AppError } from '../../lib/errors.ts';
import { FRAME_SCRIPT, FRAME_STYLE } from '../../report/html/frame.tsx';
import { type Assets, SHELL_STYLE } from '../../report/html/shell.tsx';
import { REPORT_STYLE } from '../../report/html/styles.ts';
import { ALERT_STYLE } from '../alerts/style.ts';
import { DNS_STYLE } from '../dns/style.ts';
import { DOMAINS_STYLE } from '../domains/style.ts';
import { FEEDBACK_STYLE } from '../feedback/style.ts';
import { OVERVIEW_STYLE } from '../overview/style.ts';
import { RECEIVERS_STYLE } from '../receivers/style.ts';
import { REPORTS_STYLE } from '../reports/style.ts';
import { TEAM_STYLE } from '../team/style.ts';
import { TEST_REPORT_STYLE, TEST_STYLE } from '../tests/page-style.ts';
import { TESTS_STYLE } from '../tests/style.ts';
import { WEBHOOK_STYLE } from '../webhooks/style.ts';
import { SCRIPT } from './script.generated.ts';
import { APP_STYLE, REPORT_FRAME_STYLE } from './style.ts';

const STYLE_FILE = [
  FRAME_STYLE,
  SHELL_STYLE,
  APP_STYLE,
  ALERT_STYLE,
  DNS_STYLE,
  DOMAINS_STYLE,
  OVERVIEW_STYLE,
  REPORTS_STYLE,
  FEEDBACK_STYLE,
  RECEIVERS_STYLE,
  TEAM_STYLE,
  TEST_STYLE,
  TESTS_STYLE,
  WEBHOOK_STYLE,
].join('');
/** Reports have a style of their own, in which classes of the other pages have another meaning. */
const REPORT_STYLE_FILE =
  FRAME_STYLE + SHELL_STYLE + REPORT_STYLE + REPORT_FRAME_STYLE + TEST_REPORT_STYLE;
const SCRIPT_FILE = FRAME_SCRIPT + SCRIPT;

const versionOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 12);

/** The URLs in pages. */
export const ASSETS: Assets = {
  style: `/assets/${versionOf(STYLE_FILE)}.css`,
  script: `/assets/${versionOf(SCRIPT_FILE)}.js`,
};

/** The URLs in reports inside the web application. */
export const REPORT_ASSETS: Assets = {
  style: `/assets/${versionOf(REPORT_STYLE_FILE)}.report.css`,
  script: ASSETS.script,
};

const FILES: Record<string, { text: string; type: string; path: string }> = {
  css: { text: STYLE_FILE, type: 'text/css; charset=utf-8', path: ASSETS.style },
  'report.css': {
    text: REPORT_STYLE_FILE,
    type: 'text/css; charset=utf-8',
    path: REPORT_ASSETS.style,
  },
  js: { text: SCRIPT_FILE, type: 'text/javascript; charset=utf-8', path: ASSETS.script },
};

const showAsset = route({
  method: 'GET',
  path: '/assets/:file',
  operation: 'showAsset',
  role: 'public',
  summary: 'Get the stylesheet or script of the pages',
  produces: ['text/css', 'text/javascript'],
  handle({ params }) {
    const [, extension = ''] = /^[\w-]{12}\.(css|report\.css|js)$/.exec(params.file!) ?? [];
    const file = Object.hasOwn(FILES, extension) ? FILES[extension] : undefined;
    if (!file) throw new AppError('not_found', 'Page not found. Check the URL.');
    // During an upgrade, a page of another node may name another version. It gets this one for now.
    const isCurrent = file.path === `/assets/${params.file}`;
    return new Response(file.text, {
      headers: {
        'content-type': file.type,
        'cache-control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    });
  },
});

export const assetRoutes = [showAsset];
