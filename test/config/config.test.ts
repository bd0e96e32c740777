/** The configuration: what each variable takes, all faults at once, and files for secrets. */

// @one-database: about variables.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { ConfigError, type Environment, PREFIX, readConfig } from '../../src/config/config.ts';
import * as readers from '../../src/config/readers.ts';
import { VARIABLES, type Variable, variable } from '../../src/config/variables.ts';
import { temporaryFolder } from '../helpers/app.ts';

const names = Object.keys(VARIABLES);

function faultsOf(env: Environment, variables?: Record<string, Variable<unknown>>): string[] {
  try {
    readConfig(env, variables);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    for (const fault of error.faults) assert.ok(error.message.includes(fault));
    return error.faults;
  }
  return [];
}

test('readConfig without variables returns the complete defaults', () => {
  const { config, warnings, texts } = readConfig({});
  assert.deepEqual(warnings, []);
  assert.deepEqual(Object.keys(config), names);
  assert.deepEqual(Object.keys(texts), names);
  const { SMTP_NAME, WORKERS, ...rest } = config;
  assert.match(SMTP_NAME, /^[a-z0-9.-]+$/);
  assert.ok(WORKERS >= 1 && WORKERS <= 128);
  assert.deepEqual(rest, {
    DATA_DIR: resolve('data'),
    DATABASE_URL: resolve('data/deliverability.db'),
    DATABASE_NOTIFY: true,
    NODE_NAME: null,
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: 8080,
    BASE_URL: 'http://127.0.0.1:8080',
    APP_URL: 'http://127.0.0.1:8080',
    HTTP_TLS_CERT_FILE: null,
    HTTP_TLS_KEY_FILE: null,
    HTTP_TLS_DIR: null,
    HTTP_MAX_CONNECTIONS: 1000,
    HTTP_MAX_CONNECTIONS_PER_CLIENT: 100,
    SURFACE: 'full',
    OWNER_EMAIL: null,
    OWNER_PASSWORD: null,
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: 2525,
    INBOX_DOMAIN: 'localhost',
    SMTP_TLS_CERT_FILE: null,
    SMTP_TLS_KEY_FILE: null,
    SMTP_MAX_SIZE: 25 * 1024 * 1024,
    FEEDBACK_MAX_SIZE: 15 * 1024 * 1024,
    SMTP_PROXY_PROTOCOL: [],
    SMTP_XCLIENT: [],
    SMTP_TRUSTED_HOPS: [],
    LMTP_PORT: null,
    SMTP_MAX_CONNECTIONS: 300,
    SMTP_MAX_CONNECTIONS_PER_CLIENT: 30,
    MAIL_URL: null,
    MAIL_FROM: null,
    MAIL_DKIM_DOMAIN: null,
    MAIL_DKIM_SELECTOR: null,
    MAIL_DKIM_KEY: null,
    SLACK_WEBHOOK_URL: null,
    DNS_SERVERS: null,
    BLOCKLISTS: [],
    SPAMHAUS_DQS_KEY: null,
    SPAMD_URL: null,
    RSPAMD_URL: null,
    CHECK_LINKS: true,
    SEED_MAILBOXES: [],
    RECEIVERS: [],
    PLACEMENT_TIMEOUT: 3_600_000,
    PDF_FONTS: [],
    PLACEMENT_RECHECK: 120_000,
    SEED_CLEANUP: 0,
    OIDC_ISSUER: null,
    OIDC_CLIENT_ID: null,
    OIDC_CLIENT_SECRET: null,
    OIDC_SCOPES: 'openid email profile',
    OIDC_TRUST_EMAIL: false,
    OIDC_ROLES: [],
    WEBHOOK_ALLOW_NETWORKS: [],
    WEBHOOK_CA_FILE: null,
    DNS_COMMANDS: [],
    TEST_RETENTION: 90 * 86_400_000,
    EVENT_RETENTION: 30 * 86_400_000,
    FEEDBACK_RETENTION: 400 * 86_400_000,
    FEEDBACK_STORAGE: 1024 ** 3,
    FEEDBACK_STORAGE_PER_DOMAIN: 100 * 1024 ** 2,
    FEEDBACK_KEEP_MESSAGES: false,
    SECRET_KEY: null,
    TRUSTED_PROXIES: [],
    RATE_LIMIT: { requests: 600, seconds: 60 },
    METRICS_TOKEN: null,
    MCP_OAUTH: true,
    PUBLIC_TESTS: false,
    PUBLIC_TESTS_PER_CLIENT: 20,
    PUBLIC_TESTS_PER_DAY: 1000,
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'auto',
  });
});

test('readConfig treats an empty variable as unset', () => {
  const empty = Object.fromEntries(names.map((name) => [PREFIX + name, '']));
  assert.deepEqual(readConfig(empty), readConfig({}));
});

test('readConfig derives defaults from other variables', () => {
  const { config } = readConfig({
    [`${PREFIX}DATA_DIR`]: '/srv/mail',
    [`${PREFIX}HTTP_PORT`]: '9000',
  });
  assert.equal(config.DATABASE_URL, '/srv/mail/deliverability.db');
  assert.equal(config.BASE_URL, 'http://127.0.0.1:9000');
  assert.equal(config.APP_URL, 'http://127.0.0.1:9000');
  const { config: named } = readConfig({ [`${PREFIX}BASE_URL`]: 'https://a.example/' });
  assert.equal(named.APP_URL, 'https://a.example');
});

test('readConfig reports all invalid variables at once', () => {
  const faults = faultsOf({
    [`${PREFIX}HTTP_PORT`]: 'eighty',
    [`${PREFIX}SURFACE`]: 'secret',
    [`${PREFIX}WORKERS`]: '0',
    [`${PREFIX}SMTP_TLS_KEY_FILE`]: 'key.pem',
  });
  assert.deepEqual(faults, [
    `${PREFIX}HTTP_PORT must be a port number from 0 to 65535, not "eighty"`,
    `${PREFIX}SURFACE must be one of full, preview, not "secret"`,
    `${PREFIX}WORKERS must be a whole number from 1 to 128, not "0"`,
    `${PREFIX}SMTP_TLS_CERT_FILE is missing: set both the certificate and the key`,
  ]);
});

test('readConfig reports an invalid variable once, not again for derived defaults', () => {
  assert.equal(faultsOf({ [`${PREFIX}BASE_URL`]: 'nonsense' }).length, 1);
});

test('readConfig rejects a TLS certificate without key and a key without certificate', () => {
  for (const kind of ['HTTP', 'SMTP'])
    for (const [given, missing] of [
      ['CERT', 'KEY'],
      ['KEY', 'CERT'],
    ])
      assert.deepEqual(faultsOf({ [`${PREFIX}${kind}_TLS_${given}_FILE`]: 'a.pem' }), [
        `${PREFIX}${kind}_TLS_${missing}_FILE is missing: set both the certificate and the key`,
      ]);
});

test('readConfig reports each missing variable of an incomplete group', () => {
  const missing = (name: string, group: string) =>
    `${PREFIX}${name} is missing: set ${group} together`;
  assert.deepEqual(faultsOf({ [`${PREFIX}MAIL_URL`]: 'smtp://127.0.0.1' }), [
    missing('MAIL_FROM', 'MAIL_URL, MAIL_FROM'),
  ]);
  const dkim = 'MAIL_DKIM_DOMAIN, MAIL_DKIM_SELECTOR, MAIL_DKIM_KEY';
  assert.deepEqual(faultsOf({ [`${PREFIX}MAIL_DKIM_SELECTOR`]: 's1' }), [
    missing('MAIL_DKIM_DOMAIN', dkim),
    missing('MAIL_DKIM_KEY', dkim),
  ]);
  const oidc = { ISSUER: 'nonsense', CLIENT_ID: 'a', CLIENT_SECRET: 'b' };
  const env = Object.entries(oidc).map(([name, value]) => [`${PREFIX}OIDC_${name}`, value]);
  assert.deepEqual(faultsOf(Object.fromEntries(env)), [
    `${PREFIX}OIDC_ISSUER must be a URL such as https://mail.example.com, not "nonsense"`,
  ]);
});

test('readConfig warns about unknown DELIVERABILITY_ variables with suggestions', () => {
  const { warnings } = readConfig({
    [`${PREFIX}HTTPPORT`]: '1',
    [`${PREFIX}SOMETHING_ELSE_ALTOGETHER`]: 'value',
    PATH: '/bin',
    XDELIVERABILITY_HTTP_PORT: '1',
  });
  assert.deepEqual(warnings, [
    `${PREFIX}HTTPPORT is not a known variable. Did you mean ${PREFIX}HTTP_PORT?`,
    `${PREFIX}SOMETHING_ELSE_ALTOGETHER is not a known variable`,
  ]);
  const file = { [`${PREFIX}SURFACE_FILE`]: 'a' };
  assert.deepEqual(readConfig(file).warnings, [`${PREFIX}SURFACE_FILE is not a known variable`]);
});

test('readConfig returns the text of each variable or its default', () => {
  const { texts } = readConfig({ [`${PREFIX}TEST_RETENTION`]: '7d' });
  assert.equal(texts.TEST_RETENTION, '7d');
  assert.equal(texts.EVENT_RETENTION, '30d');
});

const SECRETS: Record<string, Variable<unknown>> = {
  TOKEN: variable({ read: readers.text, fallback: 'none', help: '', secret: true }),
  NUMBER: variable({ read: readers.port, fallback: '1', help: '', secret: true }),
};

test('readConfig reads a secret from the file named by its _FILE variable', (t) => {
  const file = join(temporaryFolder(t), 'token');
  writeFileSync(file, '  s3cret\n');
  const read = (env: Environment) => {
    const { config, warnings } = readConfig(env, SECRETS);
    assert.deepEqual(warnings, []);
    return (config as unknown as { TOKEN: string }).TOKEN;
  };
  assert.equal(read({ [`${PREFIX}TOKEN_FILE`]: file }), 's3cret');
  assert.equal(read({ [`${PREFIX}TOKEN_FILE`]: file, [`${PREFIX}TOKEN`]: '' }), 's3cret');
  assert.equal(read({ [`${PREFIX}TOKEN`]: 'plain' }), 'plain');
  assert.equal(read({}), 'none');
  writeFileSync(file, '\n');
  assert.equal(
    read({ [`${PREFIX}TOKEN_FILE`]: file }),
    'none',
    'an empty file is an unset variable',
  );
});

test('readConfig rejects a secret given twice or in a missing file', (t) => {
  const missing = join(temporaryFolder(t), 'missing');
  assert.deepEqual(
    faultsOf({ [`${PREFIX}TOKEN`]: 'a', [`${PREFIX}TOKEN_FILE`]: missing }, SECRETS),
    [`${PREFIX}TOKEN conflicts with ${PREFIX}TOKEN_FILE: set only one of them`],
  );
  assert.deepEqual(faultsOf({ [`${PREFIX}TOKEN_FILE`]: missing }, SECRETS), [
    `${PREFIX}TOKEN cannot be read from its file (ENOENT)`,
  ]);
});

test('readConfig messages never contain a secret', (t) => {
  const file = join(temporaryFolder(t), 'number');
  writeFileSync(file, 's3cret');
  for (const env of [{ [`${PREFIX}NUMBER`]: 's3cret' }, { [`${PREFIX}NUMBER_FILE`]: file }])
    assert.deepEqual(faultsOf(env, SECRETS), [
      `${PREFIX}NUMBER must be a port number from 0 to 65535`,
    ]);
  const twice = { [`${PREFIX}TOKEN`]: 's3cret', [`${PREFIX}TOKEN_FILE`]: file };
  assert.ok(!faultsOf(twice, SECRETS).join().includes('s3cret'));
  const { warnings } = readConfig({ [`${PREFIX}TOKENS`]: 's3cret' }, SECRETS);
  assert.equal(warnings.length, 1);
  assert.ok(!warnings[0]!.includes('s3cret'));
});

test('readConfig truncates long invalid values in messages', () => {
  const [fault] = faultsOf({ [`${PREFIX}SURFACE`]: 'x'.repeat(10_000) });
  assert.ok(fault!.length < 300);
});

test('Certificates by host name require one for all other names', () => {
  const env = { DELIVERABILITY_HTTP_TLS_DIR: '/etc/letsencrypt/live' };
  assert.throws(() => readConfig(env), /HTTP_TLS_DIR needs DELIVERABILITY_HTTP_TLS_CERT_FILE/);
});
