/** `from`: one From field with one valid address, and no other address in the display name. */

import { addressDomain, organizationalDomain } from '../../lib/domain-names.ts';
import { brandInName, ownsAny } from '../brands/impersonated-brand.ts';
import {
  type Check,
  type Context,
  type Finding,
  fail,
  missingField,
  pass,
  rfc,
  warn,
} from '../check.ts';
import type { DkimSignature } from '../dkim/outcome.ts';
import { dkimResult } from '../dkim/verify.ts';
import { mailboxListProblem } from '../mime/mailbox-list.ts';
import { fields, type Message } from '../mime/message.ts';
import { companyInFrom } from '../sending-services/company-in-from.ts';
import { foreignSender } from '../sending-services/foreign-sender.ts';

const EXAMPLE = 'From: Example Ltd <news@example.com>';

// Bounded, so that a name of many dots cannot make matching slow.
const ADDRESS_IN_NAME = /[^\s<>"',;:()[\]@]{1,64}@[a-z0-9\u0080-\uffff.-]{1,250}\.[a-z]{2,63}/gi;

/** Repeated From fields are reported only here: `header_duplicates` ignores From. */
export const from: Check = {
  id: 'from',
  category: 'compliance',
  points: 3,
  label: 'From',
  issueTitle: 'The From field is missing or invalid',
  reference: rfc(5322, '3.6.2'),
  publicEvidence: {
    setup: 'shown',
    address: 'shown',
    name: 'shown',
    values: 'shown',
    from: 'shown',
    problem: 'shown',
    addresses: 'shown',
    sender: 'shown',
    shown: 'shown',
    brand: 'shown',
    signed_by: 'shown',
    sent_by: 'shown',
    replaced_by: 'shown',
    own_domain: 'shown',
  },
  async run(context) {
    const { message } = context;
    const fromFields = fields(message, 'from');
    const field = fromFields[0];
    if (!field) return missingField(message, 'From', ABSENT);
    if (fromFields.length > 1) return repeatedField(fromFields.map(({ value }) => value));
    const problem = mailboxListProblem(field.value) ?? encodedAddressProblem(message, field.value);
    if (problem) return invalidField(problem, field.value);
    return (
      severalAddresses(message) ??
      addressInName(message, (await context.fact(foreignSender))?.customer ?? null) ??
      (await brandInDisplayName(context)) ??
      (await companyInFrom(context)) ??
      pass(
        'Your From field has one valid address.',
        'Mailbox providers can read who the message claims to be from.',
        { address: message.from[0]?.address ?? '', name: message.from[0]?.name ?? '' },
      )
    );
  },
};

const ABSENT = {
  title: 'Your message has no From field.',
  detail:
    'Every message must have a From and a Date field. Mail servers reject a message without From.',
  fix: `Add a From field with one address, such as "${EXAMPLE}".`,
};

function repeatedField(values: string[]): Finding {
  return fail({
    title: `Your message has ${values.length.toLocaleString('en')} From fields.`,
    detail:
      'Only one is allowed. Mailbox providers do not know which one the recipient sees, so they reject such mail or treat it as forged.',
    fix: 'Keep only one From field. Check whether a program adds its own to the one you set.',
    evidence: { values: values.slice(0, 5).map((value) => value.slice(0, 200)) },
  });
}

function invalidField(problem: string, value: string): Finding {
  return fail({
    title: 'Your From field is invalid.',
    detail: `Mailbox providers cannot read it reliably: ${problem}. DMARC needs exactly one domain in From.`,
    fix: `Write the name, then the address in angle brackets: "${EXAMPLE}". Put a name with commas or other special characters in quotation marks.`,
    evidence: { from: value.slice(0, 500), problem },
  });
}

/** RFC 2047 §5: an encoded word must not contain an address, but some email clients decode it. */
function encodedAddressProblem(message: Message, value: string): string | null {
  const hidden =
    value.includes('=?') && message.from.some(({ address }) => !value.includes(address));
  return hidden ? 'its address is written as an encoded word' : null;
}

/** RFC 5322 allows several with Sender, but Gmail asks for one, and DMARC cannot pass for two domains. */
function severalAddresses(message: Message): Finding | null {
  if (message.from.length < 2) return null;
  const addresses = message.from.slice(0, 5).map(({ address }) => address);
  const domains = new Set(message.from.map(({ address }) => addressDomain(address)));
  const hasSender = fields(message, 'sender').length > 0 && domains.size === 1;
  return (hasSender ? warn : fail)({
    title: `Your From field has ${message.from.length.toLocaleString('en')} addresses.`,
    detail: hasSender
      ? 'The standard allows this with a Sender field. However, DMARC evaluates only one domain, and Gmail asks for a single address.'
      : domains.size > 1
        ? 'They are at different domains. DMARC cannot pass for such a message, and mailbox providers reject it.'
        : 'Without a Sender field, From may have only one address. Mailbox providers reject such mail.',
    fix: 'Keep one address in From. Name the other authors in the text or in Reply-To.',
    evidence: { addresses, sender: hasSender },
  });
}

/** `customer`: the domain of the sender's own address, if a company replaced that in From. */
function addressInName(message: Message, customer: string | null): Finding | null {
  const { name, address } = message.from[0] ?? { name: '', address: '' };
  // NFKC turns lookalikes such as the full-width @ into the plain one.
  const inName = name.slice(0, 1000).normalize('NFKC').match(ADDRESS_IN_NAME) ?? [];
  const other = inName.find((found) => found.toLowerCase() !== address.toLowerCase());
  if (!other || (customer !== null && addressDomain(other) === customer)) return null;
  const sameOwner = organization(other) !== null && organization(other) === organization(address);
  return (sameOwner ? warn : fail)({
    title: `The display name in your From field contains another address: ${other}.`,
    detail:
      'Many email clients show only the name. Phishing mail often uses a name that looks like another address, so spam filters penalize it.',
    fix: `Use a plain name, such as "${EXAMPLE}", or send from ${other} itself.`,
    evidence: { name: name.slice(0, 200), address, shown: other },
  });
}

/** Only if the brand owns neither the From domain nor a domain that signed the message. */
async function brandInDisplayName(context: Context): Promise<Finding | null> {
  const { name, address } = context.message.from[0] ?? { name: '', address: '' };
  const brand = brandInName(name);
  const domain = addressDomain(address);
  if (!brand || domain === null || ownsAny(brand, [domain])) return null;
  const { signatures } = await context.fact(dkimResult);
  // A signature that could not be verified may be the brand's.
  const signed = signatures.filter(({ result }) => result === 'pass' || !isDecided(result));
  const domains = signed.map((signature) => signature.domain);
  if (ownsAny(brand, domains)) return null;
  return warn({
    title: `The display name in your From field, “${name.slice(0, 100)}”, is that of ${brand.name}.`,
    detail: `${domain} does not belong to ${brand.name}, and ${brand.name} did not sign the message. Phishing mail looks the same, so mailbox providers send it to spam and warn the recipient.`,
    fix: `Use the name of your own organization in From. If you are ${brand.name}, send from ${brand.domains[0]} or sign with DKIM as that domain.`,
    evidence: {
      name: name.slice(0, 200),
      address,
      brand: brand.name,
      signed_by: domains.slice(0, 5),
    },
  });
}

const isDecided = (result: DkimSignature['result']): boolean =>
  result !== null && result !== 'temperror';

function organization(address: string): string | null {
  const domain = addressDomain(address);
  return domain ? (organizationalDomain(domain) ?? domain) : null;
}
