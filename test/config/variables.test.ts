/** Every variable with what it takes, and what it refuses. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { type ConfigError, type Environment, PREFIX, readConfig } from '../../src/config/config.ts';
import { VARIABLES, type Variable } from '../../src/config/variables.ts';
import { inNetworks, type Network } from '../../src/lib/addresses.ts';

type Name = keyof typeof VARIABLES;

const PEM = generateKeyPairSync('rsa', {
  modulusLength: 1024,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;

const CONNECTION_LIMIT = {
  good: [
    ['1', 1],
    ['100000', 100_000],
  ] as [text: string, value: unknown][],
  bad: ['0', '100001', '-1', '1e3', 'all'],
};

/** What each variable takes, with what it is read as, and what it refuses. */
const CASES: Record<Name, { good: [text: string, value: unknown][]; bad: string[] }> = {
  BLOCKLISTS: {
    good: [
      ['', []],
      [
        '+a.example, -B.example',
        [
          { enabled: true, zone: 'a.example' },
          { enabled: false, zone: 'b.example' },
        ],
      ],
      ['-all', [{ enabled: false, zone: 'all' }]],
    ],
    bad: ['a.example', '+', '+a b'],
  },
  SPAMHAUS_DQS_KEY: {
    good: [
      ['', null],
      ['ABCdef123', 'abcdef123'],
    ],
    bad: ['a.b', 'short'],
  },
  SPAMD_URL: {
    good: [
      ['', null],
      ['tcp://127.0.0.1:783', 'tcp://127.0.0.1:783'],
      ['tcp://[::1]:783', 'tcp://[::1]:783'],
    ],
    bad: ['127.0.0.1:783', 'http://127.0.0.1:783', 'tcp://127.0.0.1', 'tcp://a:1/x'],
  },
  RSPAMD_URL: {
    good: [
      ['', null],
      ['http://127.0.0.1:11333', 'http://127.0.0.1:11333'],
      ['http://127.0.0.1:11333/', 'http://127.0.0.1:11333'],
    ],
    bad: ['127.0.0.1:11333', 'tcp://127.0.0.1:11333', 'http://a:1/x', 'http://u:p@a:1'],
  },
  CHECK_LINKS: {
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes', '1'],
  },
  DATA_DIR: {
    good: [
      ['/srv/data', '/srv/data'],
      ['here', resolve('here')],
    ],
    bad: [],
  },
  DATABASE_URL: {
    good: [
      ['sqlite:/srv/a.db', '/srv/a.db'],
      ['sqlite:a.db', resolve('a.db')],
      ['sqlite::memory:', ':memory:'],
    ],
    bad: ['/srv/a.db', 'sqlite:', 'postgres://db', 'postgres://', 'postgres:x', 'mysql://db/x'],
  },
  DATABASE_NOTIFY: {
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['no'],
  },
  NODE_NAME: {
    good: [
      ['', null],
      ['mx1.example-1_a', 'mx1.example-1_a'],
    ],
    bad: ['a:b', 'a b', 'x'.repeat(64)],
  },
  HTTP_HOST: {
    good: [
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
    ],
    bad: [],
  },
  HTTP_PORT: {
    good: [
      ['0', 0],
      ['80', 80],
      ['65535', 65535],
    ],
    bad: ['65536', '-1', '80a', '8 0', '1e3'],
  },
  BASE_URL: {
    good: [
      ['https://api.example.com', 'https://api.example.com'],
      ['http://[::1]:80/api/', 'http://[::1]/api'],
    ],
    bad: [
      'api.example.com',
      'ftp://example.com',
      'https://',
      'https://a.example/?q',
      'https://a.example/#f',
    ],
  },
  APP_URL: {
    good: [['https://app.example.com/', 'https://app.example.com']],
    bad: ['app', 'javascript:1'],
  },
  HTTP_MAX_CONNECTIONS: CONNECTION_LIMIT,
  HTTP_MAX_CONNECTIONS_PER_CLIENT: CONNECTION_LIMIT,
  SMTP_MAX_CONNECTIONS: CONNECTION_LIMIT,
  SMTP_MAX_CONNECTIONS_PER_CLIENT: CONNECTION_LIMIT,
  HTTP_TLS_CERT_FILE: { good: [['/etc/a.pem', '/etc/a.pem']], bad: [] },
  HTTP_TLS_KEY_FILE: { good: [['/etc/a.key', '/etc/a.key']], bad: [] },
  HTTP_TLS_DIR: { good: [['/etc/letsencrypt/live', '/etc/letsencrypt/live']], bad: [] },
  SURFACE: {
    good: [
      ['full', 'full'],
      ['preview', 'preview'],
    ],
    bad: ['Full', 'none'],
  },
  OWNER_EMAIL: {
    good: [['a@example.com', 'a@example.com']],
    bad: ['a', '@example.com', 'a@', 'a b@c', 'a@b@c'],
  },
  OWNER_PASSWORD: {
    good: [
      ['', null],
      ['correct horse', 'correct horse'],
    ],
    bad: ['short', 'x'.repeat(201)],
  },
  SMTP_HOST: { good: [['0.0.0.0', '0.0.0.0']], bad: [] },
  LMTP_PORT: {
    good: [
      ['', null],
      ['24', 24],
    ],
    bad: ['25', 'lmtp', '99999'],
  },
  SMTP_PORT: { good: [['25', 25]], bad: ['smtp', '99999'] },
  SMTP_NAME: { good: [['MX.Example.com.', 'mx.example.com']], bad: ['mx example', '-mx.example'] },
  INBOX_DOMAIN: {
    good: [['bücher.example', 'xn--bcher-kva.example']],
    bad: ['a@example.com', 'a..b'],
  },
  SMTP_TLS_CERT_FILE: { good: [['/etc/a.pem', '/etc/a.pem']], bad: [] },
  SMTP_TLS_KEY_FILE: { good: [['/etc/a.key', '/etc/a.key']], bad: [] },
  FEEDBACK_MAX_SIZE: {
    good: [
      ['1', 1],
      ['15MiB', 15 * 1024 ** 2],
    ],
    bad: ['15 MB', '-1'],
  },
  FEEDBACK_STORAGE: {
    good: [
      ['1GiB', 1024 ** 3],
      ['20GiB', 20 * 1024 ** 3],
    ],
    bad: ['1 GB', '0', '100KiB', '2000GiB'],
  },
  FEEDBACK_STORAGE_PER_DOMAIN: { good: [['100MiB', 100 * 1024 ** 2]], bad: ['1', '1 GB'] },
  FEEDBACK_RETENTION: {
    good: [
      ['0', 0],
      ['400d', 400 * 86_400_000],
    ],
    bad: ['400', '-1d'],
  },
  FEEDBACK_KEEP_MESSAGES: {
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes'],
  },
  SMTP_MAX_SIZE: {
    good: [
      ['1', 1],
      ['64KiB', 65_536],
      ['1GiB', 1024 ** 3],
    ],
    bad: ['0', '25MB', '2GiB', '-1'],
  },
  SMTP_PROXY_PROTOCOL: {
    good: [],
    bad: ['10.1', '10.0.0.0/33', 'proxy.example.com', '10.0.0.0/8;::1'],
  },
  SMTP_XCLIENT: { good: [], bad: ['mail.example.com', '192.0.2.1/33'] },
  SMTP_TRUSTED_HOPS: { good: [], bad: ['mail.example.com', '192.0.2.1/33'] },
  MAIL_URL: {
    good: [
      ['smtp://127.0.0.1', 'smtp://127.0.0.1'],
      ['smtps://me:p%40ss@mail.example.com:465', 'smtps://me:p%40ss@mail.example.com:465'],
    ],
    bad: ['mail.example.com', 'https://mail.example.com', 'smtp://', 'smtp://a.example?pool=true'],
  },
  MAIL_FROM: {
    good: [
      ['no-reply@example.com', 'no-reply@example.com'],
      ['Tests of mail <no-reply@example.com>', 'Tests of mail <no-reply@example.com>'],
    ],
    bad: ['no-reply', 'a@b <c@example.com', 'A <a b@example.com>', '"A" <a@example.com>', 'a@b@c'],
  },
  MAIL_DKIM_DOMAIN: {
    good: [['Example.com', 'example.com']],
    bad: ['a@example.com', 'a b'],
  },
  MAIL_DKIM_SELECTOR: { good: [['s1', 's1']], bad: [] },
  MAIL_DKIM_KEY: {
    good: [
      [PEM, PEM],
      [PEM.replaceAll('\n', '\\n'), PEM],
    ],
    bad: ['key', '-----BEGIN PRIVATE KEY-----'],
  },
  RECEIVERS: { good: [['', []]], bad: ['x'] },
  // More in dns-commands.test.ts.
  DNS_COMMANDS: { good: [['', []]], bad: ['x', '{}'] },
  SEED_MAILBOXES: {
    // More in seed-mailboxes.test.ts.
    good: [
      ['', []],
      ['[]', []],
    ],
    bad: ['gmail', '{}', 'null'],
  },
  SEED_CLEANUP: {
    good: [
      ['0', 0],
      ['1h', 3_600_000],
      ['7d', 7 * 86_400_000],
    ],
    bad: ['never', '10m', '-1d'],
  },
  PLACEMENT_RECHECK: {
    good: [
      ['2m', 120_000],
      ['0', 0],
      ['10s', 10_000],
      ['1h', 3_600_000],
    ],
    bad: ['9s', '61m', 'once'],
  },
  PLACEMENT_TIMEOUT: {
    good: [
      ['60m', 3_600_000],
      ['1m', 60_000],
      ['7d', 7 * 86_400_000],
    ],
    bad: ['0', '59s', '8d', 'soon'],
  },
  SLACK_WEBHOOK_URL: {
    good: [
      ['', null],
      ['https://hooks.slack.com/services/T0/B0/x', 'https://hooks.slack.com/services/T0/B0/x'],
    ],
    bad: ['hooks.slack.com', 'ftp://hooks.slack.com/x', 'https://me:pw@hooks.slack.com/x'],
  },
  OIDC_ISSUER: {
    good: [
      ['https://id.example.com/', 'https://id.example.com'],
      // Single sign-on says what is wrong with it: the service must start.
      [
        'https://login.microsoftonline.com/common/v2.0',
        'https://login.microsoftonline.com/common/v2.0',
      ],
      ['http://localhost:9000/realm', 'http://localhost:9000/realm'],
      ['http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
      ['http://[::1]:9000', 'http://[::1]:9000'],
    ],
    bad: [
      'id.example.com',
      'ftp://id.example.com',
      'http://id.example.com',
      'http://192.0.2.1',
      'http://127.0.0.1.example.com',
      'http://localhost.example.com',
    ],
  },
  OIDC_SCOPES: {
    good: [['openid  email groups', 'openid email groups']],
    bad: ['email profile', 'openid,email', 'openid "x"'],
  },
  OIDC_TRUST_EMAIL: {
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes'],
  },
  OIDC_ROLES: {
    good: [
      ['', []],
      ['groups=mail-admins:admin', [{ claim: 'groups', value: 'mail-admins', role: 'admin' }]],
      [
        'cognito:groups=a b:member, https://example.com/roles=/x/y:viewer,',
        [
          { claim: 'cognito:groups', value: 'a b', role: 'member' },
          { claim: 'https://example.com/roles', value: '/x/y', role: 'viewer' },
        ],
      ],
      ['groups=urn:x=1:admin', [{ claim: 'groups', value: 'urn:x=1', role: 'admin' }]],
    ],
    bad: ['groups', 'groups=x', 'groups=x:owner', 'groups=x:root', '=x:admin', 'groups=:admin'],
  },
  OIDC_CLIENT_ID: { good: [['tests', 'tests']], bad: [] },
  OIDC_CLIENT_SECRET: { good: [['s3cret', 's3cret']], bad: [] },
  METRICS_TOKEN: {
    good: [
      ['', null],
      ['0123456789abcdef', '0123456789abcdef'],
    ],
    bad: ['0123456789abcde', '0123456789 abcdef', '0123456789abcdéf'],
  },
  SECRET_KEY: {
    good: [
      ['', null],
      ['0123456789abcdef0123456789abcdef', '0123456789abcdef0123456789abcdef'],
      [' 0123456789abcdef 0123456789abcdef', ' 0123456789abcdef 0123456789abcdef'],
    ],
    bad: [
      '0123456789abcdef0123456789abcde',
      ' '.repeat(40),
      ` 0123456789abcdef0123456789abcde${' '.repeat(9)}`,
      'a'.repeat(40),
      ` ${'🔑'.repeat(40)} `,
    ],
  },
  PDF_FONTS: {
    good: [
      ['', []],
      ['/srv/fonts, fonts/Tamil.ttf', ['/srv/fonts', resolve('fonts/Tamil.ttf')]],
    ],
    bad: [],
  },
  TRUSTED_PROXIES: { good: [['', []]], bad: ['10.1', 'proxy.example.com'] },
  RATE_LIMIT: {
    good: [
      ['600/min', { requests: 600, seconds: 60 }],
      ['5/s', { requests: 5, seconds: 1 }],
      ['1/h', { requests: 1, seconds: 3600 }],
      ['0', null],
    ],
    bad: ['600', '0/min', '-1/s', '10/day', '12345678/s'],
  },
  DNS_SERVERS: {
    good: [
      ['127.0.0.1', [{ host: '127.0.0.1', port: 53 }]],
      [
        '127.0.0.1:5353, [::1]:53, ::1',
        [
          { host: '127.0.0.1', port: 5353 },
          { host: '::1', port: 53 },
          { host: '::1', port: 53 },
        ],
      ],
    ],
    bad: [',', 'dns.example.com', '127.0.0.1:x', '127.0.0.1:65536', '127.0.0.1:0', '[127.0.0.1]'],
  },
  TEST_RETENTION: {
    good: [
      ['0', 0],
      ['36h', 129_600_000],
      ['36500d', 3_153_600_000_000],
    ],
    bad: ['90', '36501d', '-1d'],
  },
  WEBHOOK_ALLOW_NETWORKS: {
    good: [['', []]],
    bad: ['10.1', '10.0.0.0/33', 'receiver.example.com'],
  },
  WEBHOOK_CA_FILE: {
    good: [
      ['', null],
      ['/etc/ca.pem', '/etc/ca.pem'],
    ],
    bad: [],
  },
  EVENT_RETENTION: {
    good: [
      ['0', 0],
      ['24h', 86_400_000],
      ['30d', 2_592_000_000],
    ],
    bad: ['forever', '23h', '86399s', '36501d'],
  },
  MCP_OAUTH: {
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes', '1'],
  },
  PUBLIC_TESTS: {
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['yes', '1'],
  },
  PUBLIC_TESTS_PER_CLIENT: {
    good: [
      ['1', 1],
      ['20', 20],
    ],
    bad: ['0', '-1', '1.5', 'many'],
  },
  PUBLIC_TESTS_PER_DAY: { good: [['1000', 1000]], bad: ['0', '1e3'] },
  WORKERS: {
    good: [
      ['1', 1],
      ['128', 128],
    ],
    bad: ['0', '129', '1.5', '-2'],
  },
  LOG_LEVEL: {
    good: [
      ['debug', 'debug'],
      ['error', 'error'],
    ],
    bad: ['trace', 'INFO'],
  },
  LOG_FORMAT: {
    good: [
      ['auto', 'auto'],
      ['json', 'json'],
      ['pretty', 'pretty'],
    ],
    bad: ['text'],
  },
};

/** Variables of which none goes without the others of its row. */
const TOGETHER: Partial<Record<Name, string>>[] = [
  { HTTP_TLS_CERT_FILE: 'a.pem', HTTP_TLS_KEY_FILE: 'a.key' },
  { SMTP_TLS_CERT_FILE: 'a.pem', SMTP_TLS_KEY_FILE: 'a.key' },
  { LMTP_PORT: '24', SMTP_TRUSTED_HOPS: '10.0.0.5' },
  { MAIL_URL: 'smtp://127.0.0.1', MAIL_FROM: 'a@example.com' },
  { MAIL_DKIM_DOMAIN: 'example.com', MAIL_DKIM_SELECTOR: 's1', MAIL_DKIM_KEY: PEM },
  { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' },
];

function environmentWith(name: Name, text: string): Environment {
  // Needs the first row, which does not need it.
  const group: Name = name === 'HTTP_TLS_DIR' ? 'HTTP_TLS_CERT_FILE' : name;
  const row = TOGETHER.find((one) => group in one) ?? {};
  const given = Object.entries({ ...row, [name]: text });
  return Object.fromEntries(given.map(([key, value]) => [PREFIX + key, value]));
}

const names = Object.keys(VARIABLES) as Name[];

test('Every configuration variable accepts its valid values', () => {
  for (const name of names)
    for (const [text, value] of CASES[name].good)
      assert.deepEqual(
        readConfig(environmentWith(name, text)).config[name],
        value,
        `${name}=${text}`,
      );
});

test('Every configuration variable rejects invalid values, naming variable and value', () => {
  for (const name of names)
    for (const text of CASES[name].bad) {
      const refuses = ({ faults }: ConfigError) => {
        assert.equal(faults.length, 1, faults.join(' | '));
        assert.match(faults[0]!, new RegExp(`^${PREFIX}${name} must `));
        const { secret } = VARIABLES[name] as Variable<unknown>;
        assert.equal(faults[0]!.endsWith(`, not "${text}"`), !secret, faults[0]);
        return true;
      };
      assert.throws(() => readConfig(environmentWith(name, text)), refuses, `${name}=${text}`);
    }
});

test('Network list variables are parsed as networks', () => {
  const text = '10.0.0.0/8, 192.0.2.7 ,2001:db8::/32,';
  for (const name of [
    'SMTP_PROXY_PROTOCOL',
    'SMTP_XCLIENT',
    'SMTP_TRUSTED_HOPS',
    'TRUSTED_PROXIES',
    'WEBHOOK_ALLOW_NETWORKS',
  ] as const) {
    const networks: Network[] = readConfig({ [PREFIX + name]: text }).config[name];
    assert.equal(networks.length, 3);
    for (const address of ['10.9.9.9', '192.0.2.7', '2001:db8::1'])
      assert.ok(inNetworks(address, networks), address);
    assert.ok(!inNetworks('192.0.2.8', networks));
  }
});
