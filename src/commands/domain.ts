/** `domain`: checks the DNS and the mail servers of a domain, without a message. */

import { createBlocklistWatch } from '../analysis/blocklists/watch.ts';
import { NO_SETUP } from '../analysis/context.ts';
import { analyzeDomain } from '../analysis/domain/analyze-domain.ts';
import type { DomainHealth, HealthStatus } from '../analysis/domain/health.ts';
import { readDomain } from '../analysis/domain/read-pasted.ts';
import { configuredBlocklists } from '../app.ts';
import { type Config, readConfig } from '../config/config.ts';
import { isoTime, systemClock } from '../lib/clock.ts';
import { normalizeDomain } from '../lib/domain-names.ts';
import { printableJson, silentLog } from '../lib/log.ts';
import { createAskDns } from '../net/dns/ask.ts';
import { createDnsResolver, systemDnsServers } from '../net/dns/network-resolver.ts';
import { createWebClient } from '../net/http/client.ts';
import { createMailTlsProbe } from '../net/smtp/probe.ts';
import { domainText, wrap } from '../report/text.ts';
import { defineCommand, EXIT, type Io, UsageError } from './command.ts';
import { readDnsOption, startProgress, withProgress } from './progress.ts';

export const EXIT_OF: Record<HealthStatus, number> = {
  healthy: EXIT.success,
  warning: EXIT.success,
  critical: EXIT.negative,
  unknown: EXIT.externalFailure,
};

export const domain = defineCommand({
  name: 'domain',
  summary: 'Check the DNS records and mail servers of a domain',
  arguments: [{ name: 'NAME' }],
  options: {
    selector: {
      value: 'S',
      description:
        'DKIM selector of the domain, repeatable (default: those of its services, and common ones)',
      isRepeatable: true,
    },
    dns: { value: 'SERVERS', description: 'DNS servers to use, such as 127.0.0.1:5353' },
    json: { description: 'Print the result as JSON' },
  },
  async run({ values, positionals }, io) {
    const name = readName(positionals[0]!);
    const selectors = (values.selector ?? []).map(readSelector);
    const { config } = readConfig(io.env);
    const servers = readDnsOption(values.dns) ?? config.DNS_SERVERS;
    const now = systemClock.now();
    const health = await checkDomainHealth(
      name,
      { ...config, DNS_SERVERS: servers },
      { selectors, now },
      io,
    );
    if (values.json) io.stdout(`${printableJson(toHealthObject(health, now), 2)}\n`);
    else io.stdout(formatText(health, io));
    return EXIT_OF[health.status];
  },
});

/** Throws a UsageError. */
export function readName(text: string): string {
  const { name, fault } = readDomain(text);
  if (name === null) throw new UsageError(`"${text}" ${fault}`);
  return name;
}

function readSelector(text: string): string {
  const selector = normalizeDomain(text);
  if (selector === null)
    throw new UsageError(`--selector must be a name such as s1, not "${text}"`);
  return selector;
}

/** With the DNS servers of the configuration. Shows progress. */
export async function checkDomainHealth(
  name: string,
  config: Config,
  { selectors, now }: { selectors: string[]; now: number },
  io: Io,
): Promise<DomainHealth> {
  const servers = config.DNS_SERVERS ?? systemDnsServers();
  const dns = createDnsResolver({ servers, clock: systemClock });
  const progress = startProgress(io);
  const resolver = withProgress(dns, progress, 'checking the domain');
  const probe = createMailTlsProbe({ resolver, helo: config.SMTP_NAME });
  try {
    const lists = configuredBlocklists(config);
    const watch = createBlocklistWatch({ lists, resolver, clock: systemClock, log: silentLog });
    return await analyzeDomain(name, {
      resolver,
      web: createWebClient({ resolver }),
      setup: { ...NO_SETUP, blocklists: await watch.inUse() },
      selectors,
      now,
      probeMailTls(host) {
        progress.setStatus(`waiting for the mail server ${host}`);
        return probe(host);
      },
      askDns: createAskDns({ servers }),
    });
  } finally {
    progress.end();
    dns.close();
  }
}

function formatText(health: DomainHealth, io: Io): string {
  const text = domainText(health, { width: io.width, color: io.useColor });
  const usesGuessedSelectors = health.checks.some(
    ({ id, evidence }) => id === 'dkim_selector' && evidence.known !== true,
  );
  const next = `Next: --json for every check with its evidence${usesGuessedSelectors ? ', --selector S to check the DKIM keys that you use' : ''}.`;
  return `${text}\n${wrap(next, io.width)}\n`;
}

/** The health object of the API, without the fields that only a service has. */
export function toHealthObject({ name, ...health }: DomainHealth, now: number) {
  return { object: 'domain_health', name, ...health, checked_at: isoTime(now) };
}
