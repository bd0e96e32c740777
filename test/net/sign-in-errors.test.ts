/** Why a mailbox can't be opened, in words: IMAP servers (RFC 5530), Microsoft's sign-in, and Microsoft Graph. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountError } from '../../src/net/account-error.ts';
import { openGraphMailbox } from '../../src/net/graph/mailbox.ts';
import type { WebClient } from '../../src/net/http/web.ts';
import { openMailbox } from '../../src/net/imap/mailbox.ts';
import { refreshTokens } from '../../src/net/oauth/token-endpoint.ts';
import { startImapServer } from '../helpers/imap-server.ts';

const FOLDERS = [{ name: 'INBOX', messages: [] }];

const IMAP: [answer: string, problem: string, message: RegExp][] = [
  ['NO [AUTHENTICATIONFAILED] Invalid credentials', 'sign_in_failed', /Create a new app password/],
  [
    'NO [ALERT] Application-specific password required: https://support.google.com/accounts/answer/185833',
    'sign_in_failed',
    /Create a new app password\. The server says: “.*Application-specific password required/,
  ],
  [
    'NO [UNAVAILABLE] LDAP is down',
    'unreachable',
    /can’t check the sign-in right now\. The server/,
  ],
  ['NO [LIMIT] Too many connections', 'throttled', /has reached a limit/],
  ['NO [INUSE] Locked', 'throttled', /lets nobody else use the mailbox right now/],
  ['NO [EXPIRED] Password expired', 'sign_in_failed', /the password has expired\. Set a new one/],
  ['NO [CONTACTADMIN] Blocked', 'sign_in_failed', /has blocked the account\. Ask its admin/],
  ['NO [AUTHORIZATIONFAILED] No', 'sign_in_failed', /does not let this user open the mailbox/],
  ['NO [PRIVACYREQUIRED] TLS', 'tls_failed', /accepts the sign-in over TLS only/],
];

test('Rejected IMAP sign-ins are distinguished: wrong password, blocked account, busy server', async (t) => {
  for (const [answer, problem, message] of IMAP) {
    const server = await startImapServer(t, {
      folders: FOLDERS,
      on({ tag, line, send }) {
        if (!/^LOGIN/i.test(line)) return false;
        send(`${tag} ${answer}`);
        return true;
      },
    });
    const account = { host: '127.0.0.1', port: server.port, user: 'seed', password: 'right' };
    await assert.rejects(openMailbox({ ...account, tls: 'loopback' }), (error: unknown) => {
      assert.ok(error instanceof AccountError, String(error));
      assert.equal(error.problem, problem, `${answer}: ${error.message}`);
      assert.match(error.message, message);
      assert.ok(!error.message.includes('right”'));
      return true;
    });
  }
});

test('A Microsoft account without a mailbox is distinguished from a wrong password', async (t) => {
  const server = await startImapServer(t, {
    folders: FOLDERS,
    on({ tag, line, send }) {
      if (!/^(?:EXAMINE|SELECT)/i.test(line)) return false;
      send(`${tag} BAD User is authenticated but not connected.`);
      return true;
    },
  });
  const account = { host: '127.0.0.1', port: server.port, user: 'seed', password: 'right' };
  const mailbox = await openMailbox({ ...account, tls: 'loopback' });
  t.after(() => mailbox.close());
  await assert.rejects(mailbox.examine('INBOX'), (error: unknown) => {
    assert.ok(error instanceof AccountError);
    assert.equal(error.problem, 'sign_in_failed');
    assert.match(error.message, /accepts the sign-in, but opens no mailbox.*allows IMAP/);
    return true;
  });
});

const answering =
  (code: number, body: unknown): WebClient =>
  async () => ({
    status: 'answered',
    code,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  });

const MICROSOFT: [code: number, error: string, problem: string, message: RegExp][] = [
  [7000215, 'invalid_client', 'sign_in_failed', /Set "client_secret" to its value, not its ID\.$/],
  [7000222, 'invalid_client', 'sign_in_failed', /client secret has expired\. Create a new one/],
  [700016, 'unauthorized_client', 'sign_in_failed', /no such app\. Check "client_id"/],
  [
    65001,
    'invalid_grant',
    'sign_in_expired',
    /Nobody has consented to the permissions\. Sign in again/,
  ],
  [50076, 'interaction_required', 'sign_in_expired', /asks for a second factor/],
  [53003, 'invalid_grant', 'sign_in_expired', /Conditional Access blocks the app/],
  [50057, 'invalid_grant', 'sign_in_expired', /account is disabled\. Ask its administrator/],
  [999999, 'invalid_client', 'sign_in_failed', /Check "client_id", "client_secret" and/],
];

test('Errors of Microsoft’s sign-in say what to do', async () => {
  const client = {
    issuer: 'https://login.example/v2.0',
    clientId: 'app',
    clientSecret: null,
    tokenUrl: 'https://login.example/token',
    scope: null,
  };
  for (const [code, error, problem, message] of MICROSOFT) {
    const error_description = `AADSTS${code}: Trace ID: 1`;
    const web = answering(400, { error, error_description, error_codes: [code] });
    await assert.rejects(refreshTokens(client as never, 'rt', web), (thrown: unknown) => {
      assert.ok(thrown instanceof AccountError, String(thrown));
      assert.equal(thrown.problem, problem);
      assert.match(thrown.message, message);
      return true;
    });
  }
});

test('A missing mailbox at Microsoft Graph is not reported as a missing folder', async () => {
  const open = (code: number, fault: string) =>
    openGraphMailbox({
      web: answering(code, { error: { code: fault, message: 'x' } }),
      baseUrl: 'https://graph.example/v1.0',
      accessToken: 'at',
      signal: AbortSignal.timeout(5000),
    }).list('junkemail', 0);
  for (const fault of ['MailboxNotEnabledForRESTAPI', 'MailboxNotSupportedForRESTAPI'])
    await assert.rejects(
      open(404, fault),
      /no mailbox at graph\.example\. Choose one with a mailbox/,
    );
  await assert.rejects(open(404, 'ErrorItemNotFound'), /has no junkemail folder/);
});
