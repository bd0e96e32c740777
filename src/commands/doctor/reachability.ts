/** Whether others reach the service: the mail port, the certificates, and the public URL. */

import { isIP } from 'node:net';
import type { Envelope } from '../../analysis/check.ts';
import { readKeyPair } from '../../keys/tls-files.ts';
import { inNetworks, isLocalAddress } from '../../lib/addresses.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { errorMessage } from '../../lib/errors.ts';
import { type Greeting, readGreeting } from '../../net/smtp/greeting.ts';
import { verifyKeyPair } from '../../net/verify-key-pair.ts';
import { SCHEMA_VERSION } from '../../store/migrations/index.ts';
import { inboxAddresses, isPrivateName } from './dns.ts';
import {
  type Check,
  type Checkup,
  check,
  ok,
  problem,
  timeText,
  unknown,
  warning,
} from './finding.ts';

export const REACHABILITY_CHECKS: Check[] = [
  check('smtp_listener', 'SMTP listener', listenerState),
  check('port_25', 'Port 25 from outside', port25State, 40_000),
  check('smtp_certificate', 'SMTP certificate', (checkup) => certificateState(checkup, 'SMTP')),
  check('https_certificate', 'HTTPS certificate', (checkup) => certificateState(checkup, 'HTTP')),
  check('public_url', 'Public URL', publicUrlState),
];

// The mail port.

const localHost = (host: string): string => ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host;
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

/** Our own listener; it expects a PROXY header from the networks of its proxies. */
async function greetingHere({ config }: Checkup): Promise<Greeting> {
  const host = localHost(config.SMTP_HOST);
  const isProxy = isIP(host) !== 0 && inNetworks(host, config.SMTP_PROXY_PROTOCOL);
  return readGreeting(host, config.SMTP_PORT, { prefix: isProxy ? 'PROXY UNKNOWN\r\n' : '' });
}

async function listenerState(checkup: Checkup) {
  const { config, service } = checkup;
  const where = `${config.SMTP_HOST}:${config.SMTP_PORT}`;
  const greeting = await greetingHere(checkup);
  if (greeting.status === 'greeted')
    return greeting.text.startsWith(`${config.SMTP_NAME} `)
      ? ok(`${where} greets as ${config.SMTP_NAME}.`)
      : problem(
          `${where} greets as “${greeting.text.slice(0, 80)}”, which is not this service.`,
          `Stop the other mail server, or set DELIVERABILITY_SMTP_PORT to a free port.`,
        );
  if (service === null)
    return unknown(
      `${where}: ${greeting.detail}. The service is not running.`,
      'Start the service, and run this command again.',
    );
  return problem(
    `${where}: ${greeting.detail}.`,
    'See the log of the service. Check DELIVERABILITY_SMTP_HOST and DELIVERABILITY_SMTP_PORT.',
  );
}

const RECENT_MS = 7 * DAY_MS;
const MAX_MESSAGES = 50;

/** The last message that a public address sent: the only proof that others reach port 25. */
async function lastMessageFromOutside({
  store,
  ownAddresses,
  clock,
}: Checkup): Promise<{ address: string; at: string } | null> {
  if ('fault' in store || store.version !== SCHEMA_VERSION) return null;
  const rows = await store.db
    .selectFrom('messages')
    .select(['envelope', 'received_at'])
    .where('received_at', '>', new Date(clock.now() - RECENT_MS).toISOString())
    .orderBy('received_at', 'desc')
    .limit(MAX_MESSAGES)
    .execute();
  for (const { envelope, received_at } of rows) {
    const { client_ip: address, helo, file }: Envelope = JSON.parse(envelope);
    // Uploads can name an address too. Those of earlier versions have no HELO unless they name one.
    if (
      !address ||
      helo === null ||
      file ||
      isLocalAddress(address) ||
      ownAddresses.includes(address)
    )
      continue;
    return { address, at: received_at };
  }
  return null;
}

const TEST_FROM_OUTSIDE =
  'Send a message to a test address from another network, or run there: nc -vz HOST 25';

async function port25State(checkup: Checkup) {
  const { config, ownAddresses, mailPort } = checkup;
  const { SMTP_HOST, SMTP_PORT } = config;
  if (isLoopback(SMTP_HOST))
    return warning(
      `The service listens on ${SMTP_HOST}:${SMTP_PORT}, which only programs on this machine reach.`,
      'To receive mail from elsewhere, set DELIVERABILITY_SMTP_HOST=0.0.0.0 and DELIVERABILITY_SMTP_PORT=25, or pass port 25 on to it.',
    );
  const last = await lastMessageFromOutside(checkup);
  if (last !== null) return ok(`A message arrived from ${last.address} on ${timeText(last.at)}.`);
  const portText =
    SMTP_PORT === mailPort
      ? ''
      : ` The service listens on port ${SMTP_PORT}, so port ${mailPort} must lead to it.`;
  if (isPrivateName(config.INBOX_DOMAIN))
    return unknown(
      `The inbox domain is not public, so there is no address to test.${portText}`,
      'Set DELIVERABILITY_INBOX_DOMAIN first.',
    );
  const found = await inboxAddresses(checkup);
  if (found === null || found.addresses.length === 0)
    return unknown(
      `The addresses of the inbox domain are not known, so its port can’t be tested.${portText}`,
      'See “Inbox domain”.',
    );
  const greetings = await Promise.all(
    found.addresses
      .slice(0, 8)
      .map(async (address) => ({ address, greeting: await readGreeting(address, mailPort) })),
  );
  const refused = greetings.filter(
    ({ address, greeting }) => greeting.status === 'failed' && ownAddresses.includes(address),
  );
  if (refused.length > 0)
    return problem(
      `${refused.map(({ address, greeting }) => `${address}: ${'detail' in greeting ? greeting.detail : ''}`).join('; ')}.${portText}`,
      `Let the service listen on port ${mailPort} of this address, or pass the port on to it, and open it in the firewall.`,
    );
  const others = greetings.filter(
    ({ greeting }) =>
      greeting.status === 'greeted' && !greeting.text.startsWith(`${config.SMTP_NAME} `),
  );
  if (others.length > 0)
    return warning(
      `${others.map(({ address }) => address).join(', ')} greets as another server.${portText}`,
      'If a mail server in front passes mail on to this service, all is well. Otherwise, correct the MX record.',
    );
  const answered = greetings
    .filter(({ greeting }) => greeting.status === 'greeted')
    .map(({ address }) => address);
  const seen =
    answered.length > 0
      ? `From this machine, ${answered.join(', ')} answers. Whether other networks reach it can’t be seen from here, and no message has arrived from outside in the last 7 days.`
      : `${found.addresses.join(', ')} doesn’t answer from this machine, as is usual behind a router. Whether other networks reach it can’t be seen from here.`;
  return unknown(
    `${seen}${portText}`,
    TEST_FROM_OUTSIDE.replace('HOST', found.hosts[0] ?? config.INBOX_DOMAIN),
  );
}

// Certificates.

const EXPIRES_SOON_MS = 14 * DAY_MS;

async function certificateState({ config, clock, ca, service }: Checkup, kind: 'SMTP' | 'HTTP') {
  const name =
    kind === 'SMTP' ? config.SMTP_NAME : new URL(config.BASE_URL).hostname.replace(/^\[|\]$/g, '');
  const variable = `DELIVERABILITY_${kind}_TLS_CERT_FILE`;
  let pair: ReturnType<typeof readKeyPair>;
  try {
    pair = readKeyPair(config, kind);
  } catch (error) {
    return problem(
      errorMessage(error).replaceAll('\n', ' '),
      `Correct ${variable} and the key, and restart the service.`,
    );
  }
  if (pair === null)
    return kind === 'SMTP'
      ? ok(
          'Not configured: STARTTLS uses a self-signed certificate. Senders accept it, except under MTA-STS or DANE.',
        )
      : ok(
          'Not configured: the API uses plain HTTP, for use behind a proxy. “Public URL” verifies the certificate of the proxy.',
        );
  const { problem: fault, names, validTo, chainLength } = await verifyKeyPair(pair, name, ca);
  const days = Math.floor((validTo - clock.now()) / DAY_MS);
  const until = new Date(validTo).toISOString().slice(0, 10);
  const text = `For ${names.join(', ')}, until ${until}, ${chainLength} in the chain.`;
  const reloads = service === null ? '' : ' The service reloads it within a minute.';
  if (validTo <= clock.now())
    return problem(`${text} It has expired.`, `Renew the file in ${variable}.${reloads}`);
  if (fault !== null) {
    const report = kind === 'SMTP' ? warning : problem;
    return report(
      `${text} Clients that connect to ${name} reject it: ${fault}.`,
      `Put a certificate for ${name} and all intermediate certificates into the file of ${variable}.${reloads}`,
    );
  }
  return validTo - clock.now() < EXPIRES_SOON_MS
    ? warning(
        `${text} It expires in ${days} days.`,
        `Renew it, and check that the renewal runs by itself.${reloads}`,
      )
    : ok(text);
}

// The public URL.

async function publicUrlState({ config, web, service }: Checkup) {
  const base = config.BASE_URL.replace(/\/$/, '');
  const { protocol, hostname } = new URL(base);
  const isHere = isLoopback(hostname);
  const result = await web({ method: 'GET', url: `${base}/healthz`, timeoutMs: 8_000 });
  if (result.status === 'failed') {
    const text = `${base} is not reachable from this machine: ${result.detail}.`;
    if (service === null)
      return unknown(
        `${text} The service is not running.`,
        'Start the service, and run this command again.',
      );
    if (result.reason === 'timeout')
      return unknown(
        `${text} Behind some routers, only other networks reach it.`,
        'Open it from another network.',
      );
    return problem(
      text,
      result.reason === 'tls'
        ? 'Renew or complete the certificate of the proxy or of the service.'
        : 'Check the DNS record, the proxy in front of the service, and DELIVERABILITY_BASE_URL.',
    );
  }
  const { code, body } = result;
  const isOurs = code === 200 && /"object":\s*"health"/.test(Buffer.from(body).toString('utf8'));
  if (!isOurs)
    return problem(
      `${base}/healthz responds with status ${code}, and not as this service does.`,
      'Let the proxy pass all paths on to the service, and check DELIVERABILITY_BASE_URL.',
    );
  if (isHere)
    return warning(
      `${base} is this machine. Links in emails and reports work only here.`,
      'Set DELIVERABILITY_BASE_URL to the public URL.',
    );
  return protocol === 'https:'
    ? ok(`${base} responds, with a valid certificate.`)
    : warning(
        `${base} responds without TLS, so passwords and API keys can be read on the way.`,
        'Put a proxy with a certificate in front, or set DELIVERABILITY_HTTP_TLS_CERT_FILE.',
      );
}
