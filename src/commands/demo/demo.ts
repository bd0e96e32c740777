/** `demo`: tests two messages on this machine, and shows what receivers say about their senders, without a network. */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createTransport } from 'nodemailer';
import { readConfig } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { randomToken } from '../../lib/crypto.ts';
import { createLog } from '../../lib/log.ts';
import type { Test } from '../../mailtests/schema.ts';
import { createDnsResolver, systemDnsServers } from '../../net/dns/network-resolver.ts';
import type { Resolver } from '../../net/dns/resolver.ts';
import { zoneResolver } from '../../net/dns/zone.ts';
import { painter, reportText, wrap } from '../../report/text.ts';
import { type Service, startService } from '../../service.ts';
import { createApiKey } from '../../team/api-keys.ts';
import { makeOwner } from '../../team/owner.ts';
import { signInGuardOf } from '../../team/sign-in-guard.ts';
import { VERSION } from '../../version.ts';
import { defineCommand, EXIT, type Io } from '../command.ts';
import { addDemoDomains, receiversFetched } from './domains.ts';
import { DEMO_MAILS, type DemoMail, demoKey, demoZone } from './mails.ts';
import { startDemoProviders } from './providers.ts';

/** Keeps everything in this process: database and DNS in memory, any free ports. */
const DEMO_ENVIRONMENT = {
  DELIVERABILITY_DATABASE_URL: 'sqlite::memory:',
  DELIVERABILITY_SMTP_NAME: 'mx.demo.example',
  DELIVERABILITY_INBOX_DOMAIN: 'inbox.demo.example',
  DELIVERABILITY_SMTP_XCLIENT: '127.0.0.1',
  DELIVERABILITY_BLOCKLISTS: '-all,+dbl.spamhaus.org,+multi.surbl.org',
  DELIVERABILITY_CHECK_LINKS: 'false',
};

export const demo = defineCommand({
  name: 'demo',
  summary: 'Run an offline demo: test two messages and print their reports',
  options: {
    once: { description: 'Exit after the demo instead of keeping the service running' },
  },
  async run({ values }, io) {
    // Pages and emails name the ports, so they must be known before the start.
    const providers = await startDemoProviders(systemClock);
    const { config } = readConfig({
      ...DEMO_ENVIRONMENT,
      DELIVERABILITY_RECEIVERS: JSON.stringify(providers.accounts),
      DELIVERABILITY_HTTP_PORT: String(await findFreePort()),
      DELIVERABILITY_SMTP_PORT: String(await findFreePort()),
    });
    const log = createLog({
      level: 'warn',
      format: 'pretty',
      clock: systemClock,
      write: (line) => io.stderr(`${line}\n`),
    });
    const dns = createDemoDns();
    const service = await startService(config, VERSION, {
      resolver: dns.resolver,
      nodeVersion: io.nodeVersion,
      program: io.program,
      log,
    });
    try {
      const access = await createAccess(service);
      const { key } = access;
      const api = config.BASE_URL;
      const call = <T>(path: string, init?: RequestInit) => callApi<T>(api, key, path, init);
      const domains = await addDemoDomains(call, service, dns.zone);
      const tests: Test[] = [];
      for (const mail of DEMO_MAILS) tests.push(await runDemoTest(mail, api, key, service, io));
      if (values.once) io.stdout(`${whatNextText(io)}\n`);
      else {
        await receiversFetched(call);
        dns.useNetwork();
        io.stdout(
          nextStepsText({ api, domains, tests, smtpPort: service.smtp.port, ...access }, io),
        );
        await io.interrupted;
      }
    } finally {
      await service.stop();
      dns.close();
      providers.close();
    }
    return EXIT.success;
  },
});

/**
 * The DNS of the demo. Its own two messages need no network. The messages that people test afterwards come from
 * real domains, whose records only the network knows.
 */
function createDemoDns() {
  const zone = demoZone();
  const demoResolver = zoneResolver(zone);
  const network = createDnsResolver({ servers: systemDnsServers(), clock: systemClock });
  let usesNetwork = false;
  const resolver: Resolver = (name, type) => {
    const isInDemo = Object.hasOwn(zone, name) || RESERVED_NAMES.test(name);
    return usesNetwork && !isInDemo ? network(name, type) : demoResolver(name, type);
  };
  return {
    zone,
    resolver,
    useNetwork() {
      usesNetwork = true;
    },
    close: network.close,
  };
}

/** Names below `example` (RFC 2606), and the reverse DNS of documentation addresses (RFC 5737). */
const RESERVED_NAMES = /(^|\.)(example|2\.0\.192\.in-addr\.arpa|100\.51\.198\.in-addr\.arpa)$/;

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Access {
  email: string;
  password: string;
  key: string;
}

/** Creates the owner with a password and an API key. */
async function createAccess({ app }: Service): Promise<Access> {
  const email = 'you@demo.example';
  const password = randomToken(16);
  const hash = await signInGuardOf(app).passwords.hash(password);
  const { owner } = await makeOwner(app, email, hash);
  const { key } = await createApiKey(app, {
    memberId: owner.id,
    name: 'demo',
    role: 'owner',
    livemode: true,
  });
  return { email, password, key };
}

/** Tests one message as a user does: create a test, send the message, get the report. */
async function runDemoTest(
  mail: DemoMail,
  api: string,
  key: string,
  service: Service,
  io: Io,
): Promise<Test> {
  const paint = painter(io.useColor);
  io.stdout(
    `${paint('bold', `── ${mail.title} ${'─'.repeat(Math.max(0, Math.min(io.width, 100) - mail.title.length - 4))}`)}\n\n`,
  );
  const newTest = await callApi<Test>(api, key, '/v1/tests', {
    method: 'POST',
    body: JSON.stringify({ name: mail.title }),
  });
  const say = (text: string) => io.stdout(`${paint('dim', wrap(text, io.width))}\n`);
  say(`POST /v1/tests returned the address ${newTest.address}`);
  const reply = await sendDemoMail(mail, newTest.address, service.smtp.port, systemClock.now());
  say(`Sent from ${mail.clientIp} over SMTP: ${reply}\n`);
  const test = await callApi<Test>(api, key, `/v1/tests/${newTest.id}?wait=20`);
  if (test.status !== 'completed')
    throw new Error(`The demo test is ${test.status}: ${test.summary}`);
  io.stdout(
    `${reportText(test as never, { width: io.width, color: io.useColor, testedName: test.id })}\n`,
  );
  return test;
}

async function callApi<T>(
  api: string,
  key: string,
  path: string,
  init: RequestInit = {},
): Promise<T> {
  const headers = { 'content-type': 'application/json', ...init.headers };
  const response = await fetch(api + path, {
    ...init,
    headers: { ...headers, authorization: `Bearer ${key}` },
  });
  if (!response.ok)
    throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

interface NextSteps extends Access {
  api: string;
  domains: { id: string }[];
  tests: Test[];
  smtpPort: number;
}

function nextStepsText(
  { api, domains, tests, smtpPort, email, password, key }: NextSteps,
  io: Io,
): string {
  const paint = painter(io.useColor);
  return [
    paint('bold', 'The service is still running. Open it in a browser:'),
    '',
    `  ${api}/sign-in`,
    `  Email address: ${email}`,
    `  Password:      ${password}`,
    '',
    wrap(
      'You find the two messages under Tests. To test your own, select “Get a test address”, or select “Create test” under Tests to upload or paste it.',
      io.width,
    ),
    '',
    ...tests.map(({ id }) => `  ${api}/tests/${id}`),
    '',
    'Their senders, and what receivers say about them:',
    '',
    ...domains.map(({ id }) => `  ${api}/domains/${id}`),
    '',
    paint('bold', 'Or use the API:'),
    '',
    `  API_KEY=${key}`,
    `  curl -H "Authorization: Bearer $API_KEY" ${api}/v1/tests`,
    `  curl ${api}/openapi.json`,
    wrap(
      `SMTP listens on 127.0.0.1:${smtpPort}, without a password. It accepts mail for test addresses.`,
      io.width,
      '  ',
    ),
    '',
    whatNextText(io),
    'Everything is in memory. Press Ctrl-C to stop and discard it.',
    '',
  ].join('\n');
}

/** Each command works as it is printed, in the current folder. */
const NEXT_COMMANDS = [
  ['Check one of your domains, without a service:', 'domain example.com'],
  ['Start your own service:', 'serve'],
  ['Create your account, in another terminal in the same folder:', 'owner you@example.com'],
];

/** The last lines of the demo: how to start your own service. */
export const whatNextText = ({
  program,
  width,
  useColor,
}: Pick<Io, 'program' | 'width' | 'useColor'>): string =>
  [
    painter(useColor)('bold', 'What next'),
    '',
    ...NEXT_COMMANDS.flatMap(([purpose, command]) => [
      `  ${wrap(purpose!, width - 2, '  ')}`,
      `    ${program} ${command}`,
    ]),
    '',
  ].join('\n');

// Sends a message over SMTP; XCLIENT sets its sending IP address.

/** Resolves with the server's last reply. */
async function sendDemoMail(
  mail: DemoMail,
  to: string,
  port: number,
  now: number,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'data');
  socket.write('EHLO localhost\r\n');
  await once(socket, 'data');
  // The session starts again with a greeting, which the transport reads.
  socket.pause();
  socket.write(`XCLIENT ADDR=${mail.clientIp}\r\n`);
  const transport = createTransport({
    connection: socket,
    host: '127.0.0.1',
    port,
    name: mail.helo,
    // The listener's certificate is self-signed.
    tls: { rejectUnauthorized: false },
    ...(mail.signed ? { dkim: dkimOptions() } : {}),
  });
  try {
    const { response } = await transport.sendMail({
      envelope: { from: mail.mailFrom, to },
      from: mail.from,
      to,
      date: new Date(now),
      subject: mail.subject,
      text: mail.text || undefined,
      html: mail.html,
      headers: mail.headers,
    });
    return response;
  } finally {
    transport.close();
  }
}

function dkimOptions() {
  const { domain, selector, privateKey } = demoKey();
  return { domainName: domain, keySelector: selector, privateKey };
}
