/** Seed mailboxes with OAuth 2 and Microsoft Graph in the configuration, and the examples of the documentation. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ConfigError, PREFIX, readConfig } from '../../src/config/config.ts';
import type { SeedMailbox } from '../../src/config/seed-mailboxes.ts';

const NAME = `${PREFIX}SEED_MAILBOXES`;

const read = (...entries: object[]): SeedMailbox[] =>
  readConfig({ [NAME]: JSON.stringify(entries) }).config.SEED_MAILBOXES;

function faultsOf(...entries: object[]): string[] {
  try {
    read(...entries);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults.map((fault) => fault.replace(`${NAME} `, ''));
  }
  return [];
}

test('Google and Microsoft have their endpoints and scopes', () => {
  const [gmail, outlook, company, graph] = read(
    { provider: 'gmail', address: 'a@gmail.com', client_id: 'g', client_secret: 's' },
    { provider: 'outlook', address: 'a@outlook.com', client_id: 'o' },
    { provider: 'microsoft_365', address: 'a@b.example', client_id: 'm', tenant: 'b.example' },
    { provider: 'microsoft_365', address: 'g@b.example', client_id: 'm', api: 'graph' },
  );
  assert.deepEqual(gmail!.imap, {
    host: 'imap.gmail.com',
    port: 993,
    tls: 'implicit',
    user: 'a@gmail.com',
    password: null,
  });
  assert.deepEqual(gmail!.oauth, {
    clientId: 'g',
    clientSecret: 's',
    refreshToken: null,
    deviceUrl: null,
    issuer: 'https://accounts.google.com',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    scope: 'https://mail.google.com/',
    signInScope: 'https://mail.google.com/',
  });
  assert.deepEqual(outlook!.oauth, {
    clientId: 'o',
    clientSecret: null,
    refreshToken: null,
    authorizationUrl: null,
    issuer: 'https://login.microsoftonline.com/consumers/v2.0',
    tokenUrl: 'https://login.microsoftonline.com/consumers/oauth2/v2.0/token',
    deviceUrl: 'https://login.microsoftonline.com/consumers/oauth2/v2.0/devicecode',
    scope: 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access',
    signInScope: 'https://outlook.office.com/IMAP.AccessAsUser.All offline_access',
  });
  assert.match(company!.oauth!.tokenUrl, /microsoftonline\.com\/b\.example\/oauth2/);
  assert.deepEqual([graph!.imap, graph!.graphUrl], [null, 'https://graph.microsoft.com/v1.0']);
  assert.match(graph!.oauth!.tokenUrl, /\/organizations\//);
  assert.equal(graph!.oauth!.scope, 'https://graph.microsoft.com/Mail.Read offline_access');
  assert.equal(
    graph!.oauth!.signInScope,
    'https://graph.microsoft.com/User.Read https://graph.microsoft.com/Mail.Read offline_access',
  );
});

test('Endpoints can be replaced, with plain HTTP on loopback only', () => {
  const [seed] = read({
    provider: 'mine',
    address: 'a@b.example',
    imap: 'imaps://imap.b.example',
    client_id: 'c',
    token_url: 'http://localhost:8090/token',
    scope: 'mail',
    refresh_token: 'r',
  });
  assert.deepEqual(seed!.oauth, {
    clientId: 'c',
    clientSecret: null,
    refreshToken: 'r',
    scope: 'mail',
    signInScope: 'mail',
    deviceUrl: null,
    authorizationUrl: null,
    issuer: 'http://127.0.0.1:8090',
    tokenUrl: 'http://127.0.0.1:8090/token',
  });
});

test('Each fault of a seed mailbox with OAuth 2 has its own line, without secrets', () => {
  const faults = faultsOf(
    { provider: 'gmail', address: 'a@gmail.com', client_secret: 'hunter2' },
    { provider: 'gmail', address: 'b@gmail.com', client_id: 'c', password: 'hunter2' },
    { provider: 'gmail', address: 'c@gmail.com', client_id: 'c', tenant: 'consumers' },
    { provider: 'gmail', address: 'd@gmail.com', client_id: 'c', api: 'graph' },
    { provider: 'yahoo', address: 'a@yahoo.com', client_id: 'c', refresh_token: 'hunter2' },
    { provider: 'outlook', address: 'a@outlook.com', client_id: 'a b', api: 'graf' },
    {
      provider: 'outlook',
      address: 'b@outlook.com',
      client_id: 'c',
      api: 'graph',
      password: 'hunter2',
      junk: ['x'],
      graph_url: 'http://graph.example',
    },
    {
      provider: 'outlook',
      address: 'c@outlook.com',
      client_id: 'c',
      token_url: 'https://user:hunter2@b.example/',
      device_url: 7,
      graph_url: 'x',
      refresh_token: 'hunter2 with spaces',
    },
    {
      provider: 'mine',
      address: 'a@b.example',
      imap: 'imaps://u:hunter2@imap.b.example',
      client_id: 'c',
      token_url: 'https://b.example/token',
    },
  );
  const url =
    'must be an https URL without user, password or fragment; http only for a loopback address';
  assert.deepEqual(faults, [
    'mailbox 1 (a@gmail.com): "client_id" is missing: register an app with the provider and set its ID',
    'mailbox 2 (b@gmail.com): use either a password or OAuth 2, not both: remove the password',
    'mailbox 3 (c@gmail.com): "tenant" is only for Outlook.com and Microsoft 365',
    'mailbox 4 (d@gmail.com): "api": "graph" is only for Outlook.com and Microsoft 365',
    'mailbox 5 (a@yahoo.com): "token_url" is missing: set the OAuth 2 token endpoint of Yahoo',
    'mailbox 6 (a@outlook.com): "api" must be imap or graph',
    'mailbox 6 (a@outlook.com): "client_id" must be text without spaces',
    'mailbox 7 (b@outlook.com): "password" can’t be used with "api": "graph"',
    'mailbox 7 (b@outlook.com): "junk" can’t be used with "api": "graph"',
    `mailbox 7 (b@outlook.com): "graph_url" ${url}`,
    'mailbox 8 (c@outlook.com): "graph_url" is only for "api": "graph"',
    'mailbox 8 (c@outlook.com): "refresh_token" must be text without spaces',
    `mailbox 8 (c@outlook.com): "token_url" ${url}`,
    `mailbox 8 (c@outlook.com): "device_url" ${url}`,
    'mailbox 9 (a@b.example): use either a password or OAuth 2, not both: remove the password',
  ]);
  assert.ok(!faults.join().includes('hunter2'));
});

test('The examples of the documentation are valid, one for each provider', () => {
  const text = readFileSync(new URL('../../docs/seed-mailboxes.md', import.meta.url), 'utf8');
  const examples = [...text.matchAll(/```json\n(.*?)```/gs)].map(
    ([, json]) => JSON.parse(json!) as object | object[],
  );
  const seeds = examples.flatMap((example) =>
    read(...(Array.isArray(example) ? example : [example])),
  );
  const providers = new Set(seeds.map(({ provider }) => provider));
  for (const provider of [
    'gmail',
    'google_workspace',
    'outlook',
    'microsoft_365',
    'yahoo',
    'aol',
    'icloud',
    'fastmail',
    'gmx',
    'web_de',
    'zoho',
    'proton',
  ])
    assert.ok(providers.has(provider), `no example for ${provider}`);
  assert.ok(seeds.some(({ graphUrl }) => graphUrl !== null));
  assert.ok(seeds.some(({ oauth, imap }) => oauth !== null && imap !== null));
});
