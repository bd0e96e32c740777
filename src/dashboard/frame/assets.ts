/** Stylesheet and script of the pages, under names that change with their content. */

import { createHash } from 'node:crypto';
import { route } from '../../http/route.ts';
import { type StaticDocument, staticResponse } from '../../http/static-document.ts';
import { AppError } from '../../lib/errors.ts';
import { CHART_STYLE } from '../../report/html/chart.tsx';
import { REPORT_STYLE } from '../../report/html/styles.ts';
import { FRAME_SCRIPT, FRAME_STYLE } from '../../ui/frame.tsx';
import { type Assets, SHELL_STYLE } from '../../ui/shell.tsx';
import { ALERT_STYLE } from '../alerts/style.ts';
import { DNS_STYLE } from '../dns/style.ts';
import { DOMAINS_STYLE } from '../domains/style.ts';
import { FEEDBACK_STYLE } from '../feedback/style.ts';
import { HELP_STYLE } from '../help/style.ts';
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
  CHART_STYLE,
  ALERT_STYLE,
  DNS_STYLE,
  DOMAINS_STYLE,
  OVERVIEW_STYLE,
  REPORTS_STYLE,
  FEEDBACK_STYLE,
  HELP_STYLE,
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

const CSS = 'text/css; charset=utf-8';

const FILES: Record<string, { path: string; current: StaticDocument; other: StaticDocument }> = {
  css: fileOf(ASSETS.style, STYLE_FILE, CSS),
  'report.css': fileOf(REPORT_ASSETS.style, REPORT_STYLE_FILE, CSS),
  js: fileOf(ASSETS.script, SCRIPT_FILE, 'text/javascript; charset=utf-8'),
};

/** `other`: during an upgrade, a page of another node may name another version. It gets this one for now. */
function fileOf(path: string, text: string, type: string) {
  const cached = (policy: string) => ({
    text,
    headers: { 'content-type': type, 'cache-control': policy },
  });
  return {
    path,
    current: cached('public, max-age=31536000, immutable'),
    other: cached('no-cache'),
  };
}

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
    return staticResponse(file.path === `/assets/${params.file}` ? file.current : file.other);
  },
});

export const assetRoutes = [showAsset];
