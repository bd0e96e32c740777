/** Starts Debian's Chromium for tests of pages, with a new profile and no requests of its own. */

import { type Browser, chromium } from 'playwright-core';

/** Disables the browser's own requests as far as possible. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * The caller must close the browser. Host names below `.example` resolve to `port` on loopback, for any
 * requested port, so that tests see external requests of a page. Other names do not resolve.
 */
export function startBrowser(port = 9): Promise<Browser> {
  const rules = [`MAP *.example 127.0.0.1:${port}`, 'MAP * 127.0.0.1:9', 'EXCLUDE 127.0.0.1'];
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [...FLAGS, `--host-resolver-rules=${rules.join(', ')}`],
  });
}
