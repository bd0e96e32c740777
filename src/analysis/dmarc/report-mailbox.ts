/** Where proposed DMARC records send the reports: to this service if it takes them for the domain, else to a new mailbox. */

import { organizationalDomain, withParents } from '../../lib/domain-names.ts';
import type { Context, Setup } from '../check.ts';
import { dmarcDiscovery } from './discovery.ts';
import { isDmarcRecord, parseDmarcTags, withTag } from './record.ts';

export interface ReportMailbox {
  address: string;
  /** What to do before the record is published, or what happens to the reports, in full sentences. */
  steps: string;
  isFeedback: boolean;
}

/** The mailbox for the reports about a domain. */
export type ReportMailboxes = (domain: string) => ReportMailbox;

/**
 * A fact. An address of this service is used only where reporters may send to it: in the same organization, or with the consent
 * of the inbox domain (RFC 9990 §4).
 */
export async function reportMailboxes(context: Context): Promise<ReportMailboxes> {
  const { fromDomain } = await context.fact(dmarcDiscovery);
  const found = new Map<string, string>();
  for (const name of fromDomain === null ? [] : withParents(fromDomain)) {
    const address = feedbackAddressFor(context.setup, name);
    if (address !== null && (await mayReceive(context, address, name))) found.set(name, address);
  }
  return (domain) => {
    const address = found.get(domain);
    return address === undefined ? newMailbox(domain) : feedbackMailbox(address);
  };
}

/** The address of the domain, or of its nearest parent, for which this service takes reports. */
export function feedbackAddressFor(
  { domains }: Pick<Setup, 'domains'>,
  domain: string,
): string | null {
  const name = withParents(domain).find((name) => Object.hasOwn(domains, name));
  return name === undefined ? null : domains[name]!.feedbackAddress;
}

async function mayReceive(
  { resolver, offline }: Context,
  address: string,
  domain: string,
): Promise<boolean> {
  const inbox = address.slice(address.indexOf('@') + 1);
  if (organizationalDomain(inbox) === organizationalDomain(domain)) return true;
  if (offline) return false;
  const answer = await resolver(`${domain}._report._dmarc.${inbox}`, 'TXT');
  return answer.status === 'found' && answer.records.some(isDmarcRecord);
}

const feedbackMailbox = (address: string): ReportMailbox => ({
  address,
  steps: `This service reads the reports that are sent to ${address}.`,
  isFeedback: true,
});

/** A record that names a mailbox that does not exist makes the reports bounce. */
function newMailbox(domain: string): ReportMailbox {
  const address = `dmarc-reports@${domain}`;
  return {
    address,
    steps: `Create the mailbox ${address} first, or make it an alias of a mailbox that you read. The reports are XML files. To have them analyzed, use an address of a DMARC reporting service instead, such as dmarcian or Valimail. Until the address exists, leave rua out of the record.`,
    isFeedback: false,
  };
}

/** The record with an address for reports, if it has none. */
export const withReportAddress = (record: string, { address }: ReportMailbox): string =>
  parseDmarcTags(record).tags.has('rua') ? record : withTag(record, 'rua', `mailto:${address}`);

/** A repaired record gets no mailbox that its owner would have to create: only one that this service reads. */
export const withFeedbackAddress = (record: string, mailbox: ReportMailbox): string =>
  mailbox.isFeedback ? withReportAddress(record, mailbox) : record;

/** The record with the mailbox added to its addresses for reports. */
export function withReportsTo(record: string, { address }: ReportMailbox): string {
  const uri = `mailto:${address}`;
  const current = parseDmarcTags(record).tags.get('rua') ?? '';
  if (current.toLowerCase().includes(uri)) return record;
  return withTag(record, 'rua', current === '' ? uri : `${current},${uri}`);
}

/** The steps for the mailbox, with a space before them, if the record sends reports there; else empty. */
export const stepsForMailbox = (record: string, { address, steps }: ReportMailbox): string =>
  record.includes(`mailto:${address}`) ? ` ${steps}` : '';
