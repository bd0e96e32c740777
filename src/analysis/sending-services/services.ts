/** All known sending services, and how to find one. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import businessApps from './business-apps.json' with { type: 'json' };
import emailApis from './email-apis.json' with { type: 'json' };
import gateways from './gateways.json' with { type: 'json' };
import hostingProviders from './hosting-providers.json' with { type: 'json' };
import mailboxHosts from './mailbox-hosts.json' with { type: 'json' };
import newsletters from './newsletters.json' with { type: 'json' };
import { hasSuffix, type SendingService, suffixIndex } from './service.ts';
import { servicesOf } from './service-entry.ts';

/** Services that host the mailboxes of a customer's domain, and web hosts with mail servers. */
export const MAILBOX_HOSTS = servicesOf(mailboxHosts);

/**
 * More web hosts, whose shared servers send the mail of many customers: of their mailboxes, of scripts on their
 * websites, and mail that they forward. Names of machines that customers rent do not belong here.
 */
export const HOSTING_PROVIDERS = servicesOf(hostingProviders);

/** Mail gateways that relay and filter the outgoing mail of a customer's own mail system. */
export const GATEWAYS = servicesOf(gateways);

/**
 * If marks of several services are found, the first of them counts. Applications come before the services
 * through which some of them send, because their customers configure the application.
 */
export const SENDING_SERVICES: SendingService[] = [
  ...servicesOf(newsletters),
  ...servicesOf(businessApps),
  ...servicesOf(emailApis),
  ...MAILBOX_HOSTS,
  ...HOSTING_PROVIDERS,
  ...GATEWAYS,
];

const MAIL_HOSTS = new Set([...MAILBOX_HOSTS, ...HOSTING_PROVIDERS, ...GATEWAYS]);

/** Whether the service may put a domain of its own into From of mail that its customers compose there. */
export const canReplaceFrom = (service: SendingService): boolean =>
  service.replacesFrom !== undefined || !MAIL_HOSTS.has(service);

type Marks = SendingService['marks'];
const indexOf = (suffixes: (marks: Marks) => string[] | undefined) =>
  suffixIndex(SENDING_SERVICES.map((service) => [service, suffixes(service.marks)]));
const byHost = indexOf(({ hosts }) => hosts);
const bySigner = indexOf(({ signs }) => signs);
const byMailFrom = indexOf(({ mailFrom }) => mailFrom);

/** The service whose server has this name. */
export const serviceOfHost = (name: string): SendingService | undefined =>
  byHost(name).find(({ marks }) => !hasSuffix(name, marks.notHosts));

/** The service that signs with this domain for its customers. */
export const serviceOfSigner = (domain: string): SendingService | undefined => bySigner(domain)[0];

/** The service whose own envelope senders have this domain. */
export const serviceOfMailFrom = (domain: string): SendingService | undefined =>
  byMailFrom(domain)[0];

const FIELD_MARKS = SENDING_SERVICES.flatMap((service) =>
  (service.marks.fields ?? []).map((field) => ({
    service,
    isPrefix: field.endsWith('*'),
    text: field.replace(/\*$/, ''),
  })),
);

/** The service that adds a header field of this name, in lower case. */
export const serviceOfField = (name: string): SendingService | undefined =>
  FIELD_MARKS.find(({ isPrefix, text }) => (isPrefix ? name.startsWith(text) : name === text))
    ?.service;

/** Whether it hosts or relays the mail of its customers, rather than sending mail that they compose in it. */
export const isMailHost = (service: SendingService): boolean => MAIL_HOSTS.has(service);

/** Selectors that many signers use. */
const COMMON_SELECTORS = 's1 s2 mail default dkim api cm x key1 key2 key3'.split(' ');

/** The service whose customers usually publish a key with this selector. A hint, not a proof. */
export const serviceOfSelector = (selector: string): SendingService | undefined =>
  COMMON_SELECTORS.includes(selector)
    ? undefined
    : SENDING_SERVICES.find(({ dkim }) =>
        dkim.kind === 'cname'
          ? dkim.records.some(([usual]) => usual === selector)
          : dkim.kind === 'txt' && dkim.selector === selector,
      );

const byKey = suffixIndex(
  SENDING_SERVICES.map((service) => {
    const { dkim, marks } = service;
    const targets = dkim.kind === 'cname' ? dkim.records.map(([, target]) => target) : [];
    // What follows the parts that differ by customer.
    const suffixes = targets.map((target) => target.replace(/^.*[>}]\.?/, ''));
    return [service, [...suffixes, ...(marks.keys ?? [])]];
  }),
);

/** The service that publishes keys at this target of a CNAME record. */
export const serviceOfKey = (target: string): SendingService | undefined =>
  byKey(target)[0] ?? serviceOfDomain(target);

/** The service to which the domain belongs, so that its customers cannot publish records there. */
export const serviceOfDomain = (domain: string): SendingService | undefined =>
  serviceOfSigner(domain) ?? serviceOfMailFrom(domain) ?? byHost(domain)[0];

const SPF_OWNERS = new Set(
  SENDING_SERVICES.flatMap(({ spf }) => (spf.kind === 'include' ? spf.includes : [])).map(
    organizationalDomain,
  ),
);

/** Whether an SPF record at this name is one of a service, which customers include. */
export const isServiceSpf = (name: string): boolean =>
  serviceOfDomain(name) !== undefined || SPF_OWNERS.has(organizationalDomain(name));
