/** Mail servers that a domain had before its mailboxes moved to a provider, and that still receive its mail. */

import { ownerOf } from '../../lib/domain-names.ts';
import { type Finding, warn } from '../check.ts';
import { hasSuffix, suffixIndex } from '../sending-services/service.ts';
import { GATEWAYS, HOSTING_PROVIDERS, MAILBOX_HOSTS } from '../sending-services/services.ts';
import type { MailHosts } from './mail-hosts.ts';

const providersOf = suffixIndex(
  [...MAILBOX_HOSTS, ...HOSTING_PROVIDERS].map((service) => [
    service,
    [...(service.marks.mx ?? []), ...service.marks.hosts],
  ]),
);

const filtersOf = suffixIndex(GATEWAYS.map((service) => [service, service.marks.hosts]));

/**
 * A warning if mail goes to a mailbox provider and to a server of the domain itself or of another provider. Another host
 * can be a filter, but only if mail goes to it first. Null if there is no such host.
 */
export function explainOldHost({ domain, hosts }: MailHosts): Finding | null {
  const groups = hosts.map((host) => ({ host, provider: providersOf(host.name)[0] }));
  // Of two providers, the one with most of the hosts, or that mail goes to first, is the current one.
  const providers = Map.groupBy(
    groups.filter(({ provider }) => provider && MAILBOX_HOSTS.includes(provider)),
    ({ provider }) => provider!,
  );
  const [current] = [...providers].toSorted(([, a], [, b]) => b.length - a.length);
  if (!current) return null;
  const [{ name }, kept] = current;
  const own = ownerOf(domain);
  const firstKept = Math.min(...kept.map(({ host }) => host.preference));
  const old = groups
    .filter(({ host, provider }) =>
      provider
        ? provider.name !== name
        : hasSuffix(host.name, [own]) ||
          host.preference > firstKept ||
          (host.preference === firstKept && filterOf(host.name) !== undefined),
    )
    .map(({ host }) => host);
  const [first] = old;
  if (!first) return null;
  const filter = old.map((host) => filterOf(host.name)).find((found) => found !== undefined);
  if (filter) return explainBypass(domain, name, filter);
  const [only, ...more] = kept.map(({ host }) => host);
  const names = old.map((host) => host.name).join(', ');
  const [title, order] =
    first.preference < firstKept
      ? [`Mail to ${domain} goes to ${first.name} before it goes to ${name}.`, FIRST]
      : first.preference > firstKept
        ? [`Some mail to ${domain} goes to ${first.name} instead of ${name}.`, LATER]
        : [`Mail to ${domain} goes to ${first.name} and ${name} with equal priority.`, EQUAL];
  return warn({
    title,
    detail: `${order} Mail that arrives at ${names} does not reach your mailboxes at ${name} unless it is forwarded.`,
    fix: {
      text: `Does ${first.name} still receive your mail, for example as a filter? If not, delete its MX record, and keep ${kept.map(({ host }) => host.name).join(', ')}. If it does, keep it, and make sure that it forwards mail to ${name}.`,
      ...(only &&
        more.length === 0 &&
        first.preference > firstKept && {
          record: { type: 'MX', name: domain, value: `${only.preference} ${only.name}` },
          caution: `Only if ${first.name} no longer receives or filters your mail.`,
        }),
    },
  });
}

const FIRST = 'Senders try the lowest priority number first.';
const LATER = 'Spammers and some other senders ignore the priorities.';
const EQUAL = 'Senders choose one of them at random.';

const filterOf = (host: string): string | undefined => filtersOf(host)[0]?.name;

/** Mail that goes to the mailboxes directly, although a filter has an MX record too. */
const explainBypass = (domain: string, provider: string, filter: string): Finding =>
  warn({
    title: `Mail to ${domain} can go to ${provider} without passing ${filter}.`,
    detail: `${filter} filters mail, but only what goes to it first. Spammers send to the server that filters least.`,
    fix: {
      text: `If ${filter} filters your mail, delete the MX records of ${provider}. First make sure that ${filter} forwards mail to it. If not, delete those of ${filter}.`,
    },
  });
