/** Mail servers that a domain had before its mailboxes moved to a provider, and that still receive its mail. */

import { ownedDomain } from '../../lib/domain-names.ts';
import { type Finding, warn } from '../check.ts';
import { HOSTING_PROVIDERS } from '../sending-services/hosting-providers.ts';
import { MAILBOX_HOSTS } from '../sending-services/mailbox-hosts.ts';
import { hasSuffix, suffixIndex } from '../sending-services/service.ts';
import type { MailHosts } from './mail-hosts.ts';

const providersOf = suffixIndex(
  [...MAILBOX_HOSTS, ...HOSTING_PROVIDERS].map((service) => [
    service,
    [...(service.marks.mx ?? []), ...service.marks.hosts],
  ]),
);

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
  const own = ownedDomain(domain) ?? domain;
  const firstKept = Math.min(...kept.map(({ host }) => host.preference));
  const old = groups
    .filter(({ host, provider }) =>
      provider
        ? provider.name !== name
        : hasSuffix(host.name, [own]) || host.preference > firstKept,
    )
    .map(({ host }) => host);
  const [first] = old;
  if (!first) return null;
  const [only, ...more] = kept.map(({ host }) => host);
  const caution = `Only if ${first.name} no longer receives or filters your mail.`;
  const names = old.map((host) => host.name).join(', ');
  const isFirst = first.preference <= firstKept;
  return warn({
    title: isFirst
      ? `Mail to ${domain} goes to ${first.name} before it goes to ${name}.`
      : `Some mail to ${domain} goes to ${first.name} instead of ${name}.`,
    detail: `${isFirst ? 'Senders try the lowest priority number first.' : 'Spammers and some other senders ignore the priorities.'} Mail that arrives at ${names} does not reach your mailboxes at ${name} unless it is forwarded.`,
    fix: {
      text: `Does ${first.name} still receive your mail, for example as a filter? If not, delete its MX record, and keep ${kept.map(({ host }) => host.name).join(', ')}. If it does, keep it, and make sure that it forwards mail to ${name}.`,
      ...(only &&
        more.length === 0 && {
          record: { type: 'MX', name: domain, value: `${only.preference} ${only.name}` },
          caution,
        }),
    },
  });
}
