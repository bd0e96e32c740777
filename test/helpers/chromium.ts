/** A real browser for tests of pages: Debian's Chromium, with a profile of its own, that keeps to itself. */

import { type Browser, chromium } from 'playwright-core';

/** Playwright chooses a new empty profile. What the browser itself asks for is switched off as far as it can be. */
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
 * To be closed by the caller. Hosts below `.example` lead to `port` on loopback, whatever port was
 * asked for, so that a test sees what a page reaches out for; no other name leads anywhere.
 */
export function startBrowser(port = 9): Promise<Browser> {
  const rules = [`MAP *.example 127.0.0.1:${port}`, 'MAP * 127.0.0.1:9', 'EXCLUDE 127.0.0.1'];
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [...FLAGS, `--host-resolver-rules=${rules.join(', ')}`],
  });
}
