/** What `listen` says at its start: where it is, and how the service comes to call it. */

import { isIPv6 } from 'node:net';
import type { Authority } from './authority.ts';

export interface Start {
  /** Address that it listens on. */
  host: string;
  port: number;
  /** Name or address of the URL. */
  calledBy: string;
  authority: Authority;
  /** Address of the API. */
  apiUrl: string;
  hasSecret: boolean;
}

/** Ends with an empty line. */
export function instructions(start: Start): string {
  const { host, port, calledBy, authority, apiUrl, hasSecret } = start;
  const url = `https://${isIPv6(calledBy) ? `[${calledBy}]` : calledBy}:${port}/`;
  const body = JSON.stringify({ url, events: ['*'] });
  return [
    `Listening on ${url} until you press Ctrl-C.`,
    '',
    `1. Start the service so that it may call this and trusts its certificate${authority.made ? ' (the authority is new)' : ''}:`,
    `     DELIVERABILITY_WEBHOOK_CA_FILE=${shellWord(authority.file)} \\`,
    `     DELIVERABILITY_WEBHOOK_ALLOW_NETWORKS=${host}/${isIPv6(host) ? 128 : 32} \\`,
    '     deliverability serve',
    '2. Register it, with the API key of an admin:',
    `     curl ${apiUrl}/v1/webhooks/endpoints \\`,
    '       -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\',
    `       -d ${shellWord(body)}`,
    ...(hasSecret
      ? []
      : [
          '3. Put the "secret" of the answer into a file, and start this again with --secret-file FILE.',
          '   Until then events are shown, and not verified.',
        ]),
    '',
    '',
  ].join('\n');
}

const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
