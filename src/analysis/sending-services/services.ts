/** All known sending services, and how to find one. */

import { organizationalDomain } from '../../lib/domain-names.ts';
import { BUSINESS_APPS } from './business-apps.ts';
import { EMAIL_APIS } from './email-apis.ts';
import { GATEWAYS } from './gateways.ts';
import { HOSTING_PROVIDERS } from './hosting-providers.ts';
import { MAILBOX_HOSTS } from './mailbox-hosts.ts';
import { NEWSLETTERS } from './newsletters.ts';
import { hasSuffix, type SendingService, suffixIndex } from './service.ts';

/**
 * If marks of several services are found, the first of them counts. Applications come before the services
 * through which some of them send, because their customers configure the application.
 */
export const SENDING_SERVICES: SendingService[] = [
  ...NEWSLETTERS,
  ...BUSINESS_APPS,
  ...EMAIL_APIS,
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
