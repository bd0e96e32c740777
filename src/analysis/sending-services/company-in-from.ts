/** What the check of From says about a message that a known company sent from a domain of its own. */

import { ownedDomain, ownerOf } from '../../lib/domain-names.ts';
import { recordsOf } from '../../net/dns/resolver.ts';
import { type Context, type Finding, type Fix, info, warn } from '../check.ts';
import { isDmarcRecord } from '../dmarc/record.ts';
import { type ForeignSender, foreignSender } from './foreign-sender.ts';
import { freemailProvider } from './freemail.ts';
import type { SendingService } from './service.ts';
import { dkimGuide, signingSteps } from './signing-steps.ts';

/** Null for a message from a domain that may be the reader's. */
export async function companyInFrom(context: Context): Promise<Finding | null> {
  const sender = await context.fact(foreignSender);
  if (!sender) return null;
  return sender.role === 'vendor' ? ofVendor(sender) : ofService(context, sender);
}

function ofVendor({ domain, company }: ForeignSender & { role: 'vendor' }): Finding {
  const { name, guide } = company;
  const finding = info(
    `${name} sends this message in its own name.`,
    `${domain} belongs to ${name}, so you cannot change its DNS records, its signatures or its servers. There is nothing for you to publish.`,
    { sent_by: name },
  );
  return guide === undefined
    ? finding
    : {
        ...finding,
        fix: {
          text: `${name} can also send from a domain of your own. Set it up there if recipients should see your address.`,
          guide: { name: `How to do this in ${name}`, url: guide },
        },
      };
}

async function ofService(
  context: Context,
  { domain, customer, company }: ForeignSender & { role: 'service' },
): Promise<Finding> {
  const { name, replacesFrom } = company;
  const isReplaced =
    replacesFrom !== undefined && (customer !== null || !isOfItsSite(company, domain));
  const evidence = { replaced_by: name, own_domain: customer };
  if (!isReplaced && customer === null)
    return {
      ...info(
        `Your message is sent from ${domain}, a domain of ${name}.`,
        `${name} manages its DNS records, so there is nothing for you to publish.`,
      ),
      fix: ownAddressFix(company),
    };
  return warn({
    title: isReplaced
      ? replacedTitle(name, customer)
      : `${name} sends your message from ${domain}, not from ${customer}.`,
    detail: `Recipients see an address at ${domain} instead of yours. Other customers of ${name} use the same domain, so its reputation depends on them too.`,
    fix: await authenticationFix(context, company, customer),
    evidence,
  });
}

/** Whether it is the domain of the service's own site, from which it sends its own mail and that of some customers. */
const isOfItsSite = ({ guides }: SendingService, domain: string): boolean =>
  ownedDomain(new URL(guides.dkim).hostname) === ownedDomain(domain);

function replacedTitle(name: string, customer: string | null): string {
  if (customer === null)
    return `${name} replaced your From address because your domain is not authenticated there.`;
  const verb = freemailProvider(customer) === null ? 'is not' : 'cannot be';
  return `${name} replaced your From address because ${customer} ${verb} authenticated there.`;
}

const ownAddressFix = (service: SendingService): Fix => ({
  text: `To send from a domain of your own, authenticate it in ${service.name}, and use an address there.`,
  guide: dkimGuide(service),
});

async function authenticationFix(
  context: Context,
  service: SendingService,
  customer: string | null,
): Promise<Fix> {
  const { name, replacesFrom } = service;
  const guide = replacesFrom
    ? { name: `How to do this in ${name}`, url: replacesFrom }
    : dkimGuide(service);
  const provider = customer === null ? null : freemailProvider(customer);
  if (customer === null || provider !== null) {
    const reason =
      provider === null
        ? ''
        : ` ${customer} belongs to ${provider}, so you cannot authenticate it.`;
    return {
      text: `In ${name}, use an address at a domain of your own, and authenticate that domain there.${reason}`,
      guide,
    };
  }
  const { text } = signingSteps(service, customer);
  return {
    text: `${text} Then use an address at ${customer} in From.${await policyStep(context, customer)}`,
    guide,
  };
}

/** Services replace From, and providers distrust bulk mail, until the domain has a DMARC record too. */
async function policyStep({ resolver, offline }: Context, domain: string): Promise<string> {
  const owned = ownerOf(domain);
  if (offline) return '';
  for (const name of new Set([domain, owned])) {
    const answer = await resolver(`_dmarc.${name}`, 'TXT');
    if (answer.status === 'error' || recordsOf(answer)?.some(isDmarcRecord)) return '';
  }
  return ` ${owned} also needs a DMARC record: publish the TXT record "v=DMARC1; p=none" at _dmarc.${owned}.`;
}
