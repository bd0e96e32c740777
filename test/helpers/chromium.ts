/** A real browser for tests of pages: Debian's Chromium, with a profile of its own, that keeps to itself. */

import { type Browser, chromium } from 'playwright-core';

/** Playwright chooses a new empty profile. Nothing but what a page asks for leaves the browser. */
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
 * To be closed by the caller. Every host name leads to `port` on loopback, whatever port was asked
 * for, so that a test sees all that a page reaches out for; loopback itself is reached as usual.
 */
export function startBrowser(port = 9): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [...FLAGS, `--host-resolver-rules=MAP * 127.0.0.1:${port}, EXCLUDE 127.0.0.1`],
  });
}
