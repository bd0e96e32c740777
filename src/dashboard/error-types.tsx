/** The pages to which the `type` of problem documents links: what an error means, and what to do. */

import * as v from 'valibot';
import { ERROR_TYPES } from '../http/error-types.ts';
import { pathNotFound } from '../http/parse.ts';
import { prefersJson } from '../http/request-context.ts';
import { route } from '../http/route.ts';
import { ERROR_STATUS, type ErrorCode } from '../lib/errors.ts';
import { WithCode } from './docs/topics.tsx';
import { pageResponse } from './frame/page.tsx';

const ErrorTypeJson = v.object({
  object: v.literal('error_type'),
  type: v.string(),
  code: v.string(),
  status: v.number(),
  title: v.string(),
  meaning: v.string(),
  action: v.string(),
});

/** The same for everyone, so that caches may store it. */
const HEADERS = { 'cache-control': 'no-cache', vary: 'Accept' };

const showErrorType = route({
  method: 'GET',
  path: '/errors/:code',
  operation: 'showErrorType',
  role: 'public',
  preview: true,
  summary: 'Show what an error means and what to do',
  produces: ['text/html', 'application/json'],
  json: ErrorTypeJson,
  handle({ app, params, headers }) {
    const code = params.code!;
    if (!isErrorCode(code)) throw pathNotFound();
    const { title, meaning, action } = ERROR_TYPES[code];
    const status = ERROR_STATUS[code];
    if (prefersJson(headers.get('accept') ?? '')) {
      const type = { object: 'error_type', type: `/errors/${code}`, code, status };
      return new Response(JSON.stringify({ ...type, title, meaning, action }), {
        headers: { ...HEADERS, 'content-type': 'application/json' },
      });
    }
    return pageResponse({
      title,
      headers: HEADERS,
      wide: true,
      isPreview: app.config.SURFACE === 'preview',
      children: (
        <>
          <p class="muted">
            <code>{code}</code>, status {status}
          </p>
          <h2>What it means</h2>
          <p>
            <WithCode text={meaning} />
          </p>
          <h2>What to do</h2>
          <p>
            <WithCode text={action} />
          </p>
          {app.config.SURFACE === 'full' && (
            <p class="links">
              <a href="/docs#errors">All errors</a>
            </p>
          )}
        </>
      ),
    });
  },
});

export const errorTypePages = [showErrorType];

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_TYPES, code);
