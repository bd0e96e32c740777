/** The text of emails about the team: invitations, ownership transfers, and password links. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { timeInWords } from '../lib/format/times.ts';
import { printable } from '../lib/log.ts';
import type { OutgoingMail } from '../outbox/queue.ts';
import { mailFrame } from '../report/mail-frame.ts';
import type { InvitationRow, MemberRow } from '../store/tables.generated.ts';
import type { Handover } from './members.ts';

type AppUrlConfig = Pick<App['config'], 'APP_URL'>;
type Person = Pick<MemberRow, 'name' | 'email'>;

const hostOf = ({ APP_URL }: AppUrlConfig): string => new URL(APP_URL).host;
const nameAndAddress = ({ name, email }: Person): string => `${printable(name)} (${email})`;

const MAX_NAME_LENGTH = 60;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Shortens a name for a subject line, at a grapheme boundary. */
function shortName(name: string): string {
  const fullName = printable(name);
  if (fullName.length <= MAX_NAME_LENGTH) return fullName;
  let end = 0;
  for (const { index, segment } of GRAPHEMES.segment(fullName)) {
    if (index + segment.length >= MAX_NAME_LENGTH) break;
    end = index + segment.length;
  }
  return `${fullName.slice(0, end)}…`;
}

const ROLE_TEXTS: Record<InvitationRow['role'], string> = {
  admin:
    'As an admin, you can manage tests, domains, monitors, alert rules, webhooks, API keys, and the team. Only the owner can change other admins or transfer ownership.',
  member:
    'As a member, you can create tests, manage domains and monitors, and create your own API keys. You can also read alert rules and their incidents.',
  viewer: 'As a viewer, you can read tests and reports, but not domains, monitors or alerts.',
};

/** `url` is the link to accept the invitation. */
export function invitationMail(
  config: AppUrlConfig,
  inviter: Person,
  { email, role, expires_at }: Pick<InvitationRow, 'email' | 'role' | 'expires_at'>,
  url: string,
): OutgoingMail {
  const host = hostOf(config);
  return {
    to: email,
    subject: `${shortName(inviter.name)} invited you to the deliverability team at ${host}`,
    ...mailFrame({
      title: 'Join the team',
      preheader: `The link works once and expires on ${timeInWords(expires_at)}.`,
      blocks: [
        `${nameAndAddress(inviter)} invited you to the deliverability team at ${host}. ${ROLE_TEXTS[role]}`,
        `To join, follow the link and choose a name and a password. The link works once and expires on ${timeInWords(expires_at)}. Don't share it: anyone with the link can join in your place.`,
        "If you don't know the sender, ignore this email.",
      ],
      button: { label: 'Accept invitation', url },
      footer: `You received this email because ${inviter.email} invited your address at ${host}. You aren't on a mailing list.`,
    }),
  };
}

/** To the new owner. */
export function newOwnerMail(config: AppUrlConfig, { previous, owner }: Handover): OutgoingMail {
  const host = hostOf(config);
  return {
    to: owner.email,
    subject: `You are now the owner of the deliverability team at ${host}`,
    ...mailFrame({
      title: 'You are now the owner of the team',
      preheader: `${shortName(previous.name)} transferred ownership to you.`,
      blocks: [
        `${nameAndAddress(previous)} transferred ownership of the team at ${host} to you and is now an admin.`,
        'As the owner, you have full access. Only you can change or remove admins and transfer ownership. Nobody can remove you.',
        'Because your role changed, you were signed out of all browsers. Sign in again.',
      ],
      button: { label: 'Open the team page', url: `${config.APP_URL}/team` },
      footer: `You received this email because you are a member of the team at ${host}.`,
    }),
  };
}

/** To the previous owner. */
export function previousOwnerMail(
  { config, program }: { config: AppUrlConfig; program: string },
  { previous, owner }: Handover,
): OutgoingMail {
  const host = hostOf(config);
  return {
    to: previous.email,
    subject: `${shortName(owner.name)} is now the owner of the deliverability team at ${host}`,
    ...mailFrame({
      title: 'You transferred ownership of the team',
      preheader: 'You are now an admin.',
      blocks: [
        `${nameAndAddress(owner)} is now the owner of the team at ${host}. You are now an admin. You keep your access, except for actions that only the owner can take.`,
        "You can't undo this. Only the new owner can transfer ownership back to you. Because your role changed, you were signed out of all browsers. Sign in again.",
        `If you didn't do this, someone else used your account. Ask your administrator to run “${program} owner ${previous.email}” on the server, which makes you the owner again. Then change your password and revoke your API keys.`,
      ],
      footer: `You received this email because you were the owner of the team at ${host}.`,
    }),
  };
}

/** To a member. `url` is the link to set a new password. */
export function passwordMail(
  { APP_URL }: Pick<Config, 'APP_URL'>,
  to: string,
  url: string,
): OutgoingMail {
  const { host } = new URL(APP_URL);
  return {
    to,
    subject: `Set a new password for the deliverability team at ${host}`,
    ...mailFrame({
      title: 'Set a new password',
      preheader: 'The link works once and expires in an hour.',
      blocks: [
        `Someone requested a new password for ${to} at ${host}.`,
        'To set a new password, follow the link. It works once and expires in an hour. Setting a new password signs you out of all browsers.',
        "If you didn't request this, ignore this email. Your password stays the same.",
      ],
      button: { label: 'Set new password', url },
      footer: `You received this email because someone entered your address at ${host}.`,
    }),
  };
}
