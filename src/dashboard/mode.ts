/** The switch between live mode and test mode, which lasts until the browser closes. */

import { modeCookie } from '../http/cookies.ts';
import { readForm } from './frame/form.tsx';
import { localPath, seeOther } from './frame/page.tsx';
import { form } from './frame/page-route.ts';

const switchMode = form({
  path: '/mode',
  operation: 'switchMode',
  limited: true,
  role: 'viewer',
  summary: 'Switch between live mode and test mode',
  handle(call) {
    const field = readForm(call.raw);
    call.setHeader('set-cookie', modeCookie(field('mode') === 'test', call.app.config));
    const path = localPath(field('next')).split(/[?#]/)[0]!;
    return seeOther(field('same') === 'yes' ? path : inBothModes(path));
  },
});

/** The page itself, or the list above a page of an object that exists in one mode only. */
const inBothModes = (path: string): string =>
  /^\/(?:tests|webhooks|reports\/shares)(?=\/(?!new$))/.exec(path)?.[0] ?? path;

export const modePages = [switchMode];
