/** Accounts at receivers in the configuration. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, PREFIX, readConfig } from '../../src/config/config.ts';
import type { ReceiverAccount } from '../../src/config/receivers.ts';

const NAME = `${PREFIX}RECEIVERS`;

const read = (...entries: unknown[]): ReceiverAccount[] =>
  readConfig({ [NAME]: JSON.stringify(entries) }).config.RECEIVERS;

function faultsOf(text: string): string[] {
  try {
    readConfig({ [NAME]: text });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults.map((fault) => fault.replace(`${NAME} `, ''));
  }
  return [];
}

const faultsOfEntries = (...entries: unknown[]) => faultsOf(JSON.stringify(entries));

test('Google has its endpoints and the permissions for Postmaster Tools, Microsoft its key', () => {
  const [google, snds] = read(
    { receiver: 'google_postmaster', client_id: 'g', client_secret: 's' },
    { receiver: 'microsoft_snds', key: 'k' },
  );
  assert.deepEqual(google, {
    receiver: 'google_postmaster',
    name: 'google_postmaster',
    baseUrl: 'https://gmailpostmastertools.googleapis.com',
    oauth: {
      clientId: 'g',
      clientSecret: 's',
      refreshToken: null,
      deviceUrl: null,
      scope: null,
      issuer: 'https://accounts.google.com',
      tokenUrl: 'https://oauth2.googleapis.com/token',
      authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      signInScope:
        'https://www.googleapis.com/auth/postmaster.traffic.readonly https://www.googleapis.com/auth/postmaster.domain',
    },
  });
  assert.deepEqual(snds, {
    receiver: 'microsoft_snds',
    name: 'microsoft_snds',
    baseUrl: 'https://substrate.office.com/ip-domain-management-snds/snds',
    oauth: null,
    key: 'k',
  });
});

test("Microsoft SNDS needs no other field: the portal's public client signs in, without a secret", () => {
  const [snds, other] = read(
    { receiver: 'microsoft_snds' },
    {
      receiver: 'microsoft_snds',
      name: 'other',
      client_id: 'c',
      refresh_token: 'r',
      scope: 'c/.default offline_access',
    },
  );
  const CLIENT = 'a53a6cc1-a1cd-46f7-a4aa-281cdabec33c';
  const authority = 'https://login.microsoftonline.com/consumers';
  assert.deepEqual(snds, {
    receiver: 'microsoft_snds',
    name: 'microsoft_snds',
    baseUrl: 'https://substrate.office.com/ip-domain-management-snds',
    key: null,
    oauth: {
      clientId: CLIENT,
      clientSecret: null,
      refreshToken: null,
      issuer: `${authority}/v2.0`,
      tokenUrl: `${authority}/oauth2/v2.0/token`,
      deviceUrl: null,
      authorizationUrl: `${authority}/oauth2/v2.0/authorize`,
      scope: `${CLIENT}/.default offline_access openid profile`,
      signInScope: `${CLIENT}/.default offline_access openid profile`,
      browser: { redirectUri: 'http://localhost', parameters: { prompt: 'select_account' } },
    },
  });
  assert.deepEqual(
    [other!.oauth!.clientId, other!.oauth!.refreshToken, other!.oauth!.scope],
    ['c', 'r', 'c/.default offline_access'],
  );
});

test('Accounts of one receiver have names, and their servers can be replaced', () => {
  const [first, second, snds] = read(
    { receiver: 'google_postmaster', name: 'Main', client_id: 'g', base_url: 'https://a.example/' },
    {
      receiver: 'google_postmaster',
      name: 'other',
      client_id: 'g',
      refresh_token: 'r',
      base_url: 'http://localhost:8090/google//',
      token_url: 'http://127.0.0.1:8090/token',
      device_url: 'http://127.0.0.1:8090/device',
      scope: 'postmaster',
    },
    { receiver: 'microsoft_snds', key: 'k', base_url: 'https://b.example/snds/data' },
  );
  assert.deepEqual([first!.name, first!.baseUrl], ['main', 'https://a.example']);
  assert.equal(second!.baseUrl, 'http://127.0.0.1:8090/google');
  assert.ok(second?.receiver === 'google_postmaster');
  assert.deepEqual(second.oauth, {
    clientId: 'g',
    clientSecret: null,
    refreshToken: 'r',
    authorizationUrl: null,
    issuer: 'http://127.0.0.1:8090',
    tokenUrl: 'http://127.0.0.1:8090/token',
    deviceUrl: 'http://127.0.0.1:8090/device',
    scope: 'postmaster',
    signInScope: 'postmaster',
  });
  assert.equal(snds!.baseUrl, 'https://b.example/snds/data');
});

test('Each fault of each account has its own line, without secrets', () => {
  const google = { receiver: 'google_postmaster', client_id: 'c' };
  const snds = { receiver: 'microsoft_snds', key: 'hunter2' };
  const url =
    'must be an https URL without user, password or fragment; http only for a loopback address';
  assert.deepEqual(
    faultsOfEntries(
      { receiver: 'google_postmaster', client_secret: 'hunter2' },
      { ...google, name: 'my account', key: 'hunter2', clientid: 'c' },
      { ...google, name: 'urls', base_url: 'http://b.example', token_url: 'hunter2' },
      { ...google, name: 'again', tenant: 'common', refresh_token: 'hunter2 hunter2' },
      { receiver: 'google', client_id: 'c' },
      { receiver: 'microsoft_snd', key: 'hunter2' },
      { receiver: 'microsoft_snds', client_secret: 'hunter2', device_url: 'https://b.example' },
      { ...snds, key: 'hunter2\r\n' },
      { ...snds, refresh_token: 'hunter2' },
      { ...snds, base_url: 'https://b.example/?key=hunter2' },
      { ...snds, name: 'X' },
      { ...snds, name: 'x' },
      { ...snds, name: '..' },
      null,
    ),
    [
      'account 1 (google_postmaster): "client_id" is missing: register an app with the provider and set its ID',
      'account 2 (my account): "key" is not a known field',
      'account 2 (my account): "clientid" is not a known field. Did you mean "client_id"?',
      'account 2 (my account): "name" must be up to 100 letters, digits, dots, hyphens or underscores',
      `account 3 (urls): "base_url" ${url}, and without a query`,
      `account 3 (urls): "token_url" ${url}`,
      'account 4 (again): "tenant" is not a known field',
      'account 4 (again): "refresh_token" must be text without spaces',
      'account 5 (google): "receiver" must be google_postmaster or microsoft_snds',
      'account 6 (microsoft_snd): "receiver" must be google_postmaster or microsoft_snds. Did you mean "microsoft_snds"?',
      'account 7 (microsoft_snds): "client_secret" is not a known field',
      'account 7 (microsoft_snds): "device_url" is not a known field',
      'account 8 (microsoft_snds): "key" must be text without spaces',
      'account 9 (microsoft_snds): "key" needs no "refresh_token": set one of them',
      `account 10 (microsoft_snds): "base_url" ${url}, and without a query`,
      'account 12 (x): another account has the name x. Set a different "name"',
      'account 13 (..): "name" must be up to 100 letters, digits, dots, hyphens or underscores',
      'account 14: must be an object',
    ],
  );
});

test('RECEIVERS that is no JSON array, or too long, is one fault that does not quote it', () => {
  assert.deepEqual(faultsOf('[{"key":"hunter2"'), [
    'must be JSON: an array of objects with "receiver", and for Google "client_id"',
  ]);
  assert.deepEqual(faultsOf('{"key":"hunter2"}'), ['must be a JSON array of accounts']);
  assert.deepEqual(faultsOfEntries(...Array.from({ length: 51 }, () => ({}))), [
    'must have at most 50 accounts',
  ]);
  assert.deepEqual(faultsOf(' \n'), []);
  assert.deepEqual(faultsOf('\ufeff[]'), []);
});
