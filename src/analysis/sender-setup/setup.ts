/**
 * The one cause behind many findings of a message: a program, form or device is not set up to send for the domain of its
 * owner. The report names it first, and the findings that it causes refer to it.
 */

import { recordsOf } from '../../net/dns/resolver.ts';
import type { Context, Finding, Fix } from '../check.ts';
import type { SetupKind } from '../consequences.ts';
import { dmarcResult } from '../dmarc/evaluate.ts';
import { fromDomain, fullHostName } from '../dns/names.ts';
import { foreignOwner } from '../sending-services/ownership.ts';
import { spfResult } from '../spf/evaluate.ts';
import { isSpfRecord } from '../spf/record.ts';
import { capitalized, lowered } from '../text.ts';
import { type AccessLine, accessLine } from './access-line.ts';
import { type ContactForm, contactForm } from './contact-form.ts';
import { type DefaultSender, defaultSender } from './default-sender.ts';
import { submissionFix } from './mail-service.ts';

export interface SenderSetup {
  kind: SetupKind;
  /** The check whose finding names the cause. */
  lead: string;
  title: string;
  detail: string;
  fix: Fix;
  /** The checks whose problems have this cause. */
  covers: string[];
  /** What to do, for their findings. */
  step: string;
  /** The domain in From, if it is not that of the sender: its records say nothing about them. */
  foreignFrom: string | null;
}

const LIST = new Intl.ListFormat('en-GB');

const AUTHENTICATION = ['spf', 'spf_alignment', 'dkim', 'dkim_alignment', 'dmarc'];
const CONNECTION = ['ptr', 'fcrdns', 'helo', 'ip_blocklists', 'tls'];

/** A fact: null for nearly all messages. Whoever passes DMARC may use the address. */
export async function senderSetup(context: Context): Promise<SenderSetup | null> {
  const { identifiers } = await context.fact(dmarcResult);
  const line = await context.fact(accessLine);
  const sender = context.fact(defaultSender);
  const isFailing = identifiers === 'fail';
  const isDoubtful = isFailing || (sender?.isPlaceholder && identifiers !== 'pass');
  if (sender && isDoubtful && !(await mayBeInUse(context, sender)))
    return ofDefaultSender(context, sender, line);
  const form = isFailing ? context.fact(contactForm) : null;
  if (form) return ofContactForm(form);
  return line && ofAccessLine(context, line);
}

/**
 * Whether somebody may send from an example domain. An SPF record that allows no server shows that nobody does; without a
 * record, only an address that is known as a default shows it.
 */
async function mayBeInUse(
  context: Context,
  { isExample, isKnown }: DefaultSender,
): Promise<boolean> {
  if (!isExample) return false;
  if (context.offline) return !isKnown;
  const answer = await context.resolver(fromDomain(context) ?? '', 'TXT');
  const records = recordsOf(answer)?.filter(isSpfRecord);
  if (records === undefined) return true;
  return records.length > 0 ? !records.every((text) => NOBODY.test(text)) : !isKnown;
}

const NOBODY = /^v=spf1 +-all *$/i;

/** Whether the message may have a foreign address in From: cheap, and false for nearly all messages. */
export const mayHaveForeignFrom = (context: Context): boolean =>
  context.fact(defaultSender) !== null || context.fact(contactForm) !== null;

async function ofDefaultSender(
  context: Context,
  { address, program, setting, isPlaceholder }: DefaultSender,
  line: AccessLine | null,
): Promise<SenderSetup> {
  const domain = isPlaceholder ? null : fromDomain(context);
  const own = domain ?? 'a domain of your own';
  const submission = await submissionFix(context, domain);
  const where =
    program === null || program.startsWith('a ') ? '' : `In the settings of ${program}: `;
  return {
    kind: 'default_sender',
    lead: 'from',
    title:
      program === null
        ? `From is a placeholder, not your own address: ${address}.`
        : `From is the default address of ${program}: ${address}.`,
    detail: `${isPlaceholder ? 'Nobody can reply to it, and no record can authenticate it.' : 'No mail service signs for it.'} Mailbox providers reject such mail or treat it as forged. The other sender problems follow from this.`,
    fix: {
      ...submission,
      text: `Replace ${address} with an address at ${own}. ${where}${where ? setting : capitalized(setting)}. ${submission.text}`,
    },
    covers: [
      ...AUTHENTICATION,
      ...(isPlaceholder ? ['mx', 'return_path', 'reply_to'] : ['return_path']),
      ...(line || isUnnamedHost(context) ? CONNECTION : []),
    ],
    step: `set the sender address${program === null ? '' : ` of ${program}`}.`,
    foreignFrom: isPlaceholder ? address.slice(address.lastIndexOf('@') + 1) : null,
  };
}

/** The computer has no public name yet, so it announces none. */
const isUnnamedHost = ({ envelope: { helo } }: Context): boolean =>
  helo !== null && fullHostName(helo) === null;

function ofContactForm({ visitor, site, program, setting }: ContactForm): SenderSetup {
  const domain = visitor.slice(visitor.lastIndexOf('@') + 1).toLowerCase();
  const own = `an address of yours at ${site ?? 'the domain of your website'}`;
  const where = program === null ? '' : `In ${program}: `;
  return {
    kind: 'contact_form',
    lead: 'from',
    title: `A contact form put a visitor’s address into From: ${visitor}.`,
    detail: `Your server is not allowed to send for ${domain}, so mailbox providers treat the sender as forged. There is nothing to change at ${domain}. The other sender problems follow from this.`,
    fix: {
      text: `Put ${own} into From, and the visitor’s address into Reply-To. ${where}${where ? setting : capitalized(setting)}. Send through an email account of ${site ?? 'your domain'} (SMTP), which signs with DKIM. In WordPress, an SMTP plugin does this.`,
    },
    covers: [...AUTHENTICATION, 'reply_to', 'return_path'],
    step: `put ${own} into From, and send through an email account of that domain.`,
    foreignFrom: domain,
  };
}

async function ofAccessLine(context: Context, line: AccessLine): Promise<SenderSetup> {
  const { address, device, isLine, evidence } = line;
  const where = isLine ? `from an end-user IP address, ${address}` : `from ${address}`;
  const distrust = isLine ? 'such addresses' : 'devices and computers that are not mail servers';
  const from = fromDomain(context);
  const { result } = await context.fact(spfResult);
  const failsSpf = result !== null && result !== 'pass' && result !== 'temperror';
  const lead = failsSpf ? 'spf' : isUnnamedHost(context) ? 'helo' : 'ptr';
  const submission = await submissionFix(context, from);
  const how =
    device === null ? 'On the computer or device: ' : `In the settings of the ${device}: `;
  return {
    kind: 'access_line',
    lead,
    title:
      device === null
        ? `The message came directly ${where}.`
        : `A ${device} sent the message directly ${where}.`,
    detail: `${capitalized(LIST.format(evidence))}. Mailbox providers reject or distrust mail from ${distrust}. Do not add the address to SPF: it can change, and then belongs to someone else. A PTR record does not help either.`,
    fix: {
      ...submission,
      text: `${how}${lowered(submission.text)}${device === null ? ' On a mail server, set it as the relay host.' : ''} Your mail then passes SPF and is signed with DKIM.`,
    },
    // Mail services add a missing Message-ID (RFC 6409 §8.3).
    covers: [...AUTHENTICATION, ...CONNECTION, 'message_id'].filter((id) => id !== lead),
    step: `send through the mail service of ${from !== null && foreignOwner(from) === null ? from : 'your domain'}.`,
    foreignFrom: null,
  };
}

/** Checks of records of the From domain. */
const FROM_RECORDS = [
  'dmarc_policy',
  'dmarc_record',
  'mx',
  'mta_sts',
  'tls_rpt',
  'bimi',
  'dnssec',
  'caa',
  'dane',
];

/** The finding of a check, given the cause: it names the cause, refers to it, or is skipped. */
export function withSetup(id: string, finding: Finding, setup: SenderSetup): Finding {
  const { kind, lead, title, detail, fix, covers, step, foreignFrom } = setup;
  const isProblem = finding.status === 'warn' || finding.status === 'fail';
  if (id === lead && finding.status !== 'error' && finding.status !== 'skipped')
    return {
      ...finding,
      status: isProblem ? finding.status : 'warn',
      title,
      detail: isProblem ? `${detail} ${finding.title}` : detail,
      evidence: { ...finding.evidence, setup: kind },
      fix,
      dependsOn: undefined,
      fixedBy: [],
      alsoFixes: covers,
    };
  const isRecord =
    FROM_RECORDS.includes(id) || (id === 'dmarc' && finding.evidence?.result === 'none');
  // Nobody can reply to a default address, whoever owns its domain.
  if (foreignFrom !== null && isRecord && !covers.includes(id === 'dmarc' ? '' : id))
    return {
      status: 'skipped',
      title:
        finding.status === 'skipped'
          ? finding.title
          : `The records of ${foreignFrom} were not checked.`,
      detail: `Not checked: ${foreignFrom} in From is not the sender’s domain.`,
    };
  if (!isProblem || !covers.includes(id)) return finding;
  const { alsoFixes: _, ...rest } = finding;
  return {
    ...rest,
    detail:
      foreignFrom === null
        ? finding.detail
        : finding.detail.replace('Your DMARC policy', `The DMARC policy of ${foreignFrom}`),
    fix: { text: capitalized(step) },
    cause: { id: lead, step },
    fixedBy: [],
  };
}
