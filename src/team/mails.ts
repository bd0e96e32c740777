/** The words of the mails that the team gets: an invitation, and both sides of a transfer. */

import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { printable } from '../lib/log.ts';
import type { OutgoingMail } from '../outbox/queue.ts';
import { mailFrame } from '../report/mail-frame.ts';
import { timeInWords } from '../report/times.ts';
import type { InvitationRow, MemberRow } from '../store/tables.generated.ts';
import type { Handover } from './members.ts';

type Addresses = Pick<App['config'], 'APP_URL'>;
type Person = Pick<MemberRow, 'name' | 'email'>;

const hostOf = ({ APP_URL }: Addresses): string => new URL(APP_URL).host;
const called = ({ name, email }: Person): string => `${printable(name)} (${email})`;

const SHORT_LENGTH = 60;
const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Enough of a name for a subject, cut between characters as people see them. */
function short(name: string): string {
  const whole = printable(name);
  if (whole.length <= SHORT_LENGTH) return whole;
  let end = 0;
  for (const { index, segment } of CHARACTERS.segment(whole)) {
    if (index + segment.length >= SHORT_LENGTH) break;
    end = index + segment.length;
  }
  return `${whole.slice(0, end)}…`;
}

/** What each role may do, after "as". */
const ROLE_WORDS: Record<InvitationRow['role'], string> = {
  admin:
    'As an admin you can do everything but transfer the ownership and change other admins: tests, domains, monitors, alert rules, webhooks, API keys and the team.',
  member:
    'As a member you can create and see tests, look after domains and monitors, read the alert rules and what they found, and make API keys of your own.',
  viewer: 'As a viewer you can read tests and their reports, but no domains, monitors or alerts.',
};

/** `url` is the link to accept with. */
export function invitationMail(
  config: Addresses,
  inviter: Person,
  { email, role, expires_at }: Pick<InvitationRow, 'email' | 'role' | 'expires_at'>,
  url: string,
): OutgoingMail {
  const host = hostOf(config);
  return {
    to: email,
    subject: `${short(inviter.name)} invites you to the deliverability team at ${host}`,
    ...mailFrame({
      title: 'You are invited to a team',
      preheader: `The link works once, until ${timeInWords(expires_at)}.`,
      blocks: [
        `${called(inviter)} invites you to the team that tests its mail at ${host}. ${ROLE_WORDS[role]}`,
        `The link below works once, until ${timeInWords(expires_at)}. You choose a name and a password there. Whoever has the link can join in your place, so please do not pass it on.`,
        'If you do not know the sender, ignore this mail: without the link nobody joins, and after that time it works no more.',
      ],
      button: { label: 'Accept the invitation', url },
      footer: `You get this mail because ${inviter.email} entered your address at ${host}. You are on no list: it is sent once for each invitation.`,
    }),
  };
}

/** To the one who is the owner now. */
export function newOwnerMail(config: Addresses, { former, owner }: Handover): OutgoingMail {
  const host = hostOf(config);
  return {
    to: owner.email,
    subject: `You are now the owner of the deliverability team at ${host}`,
    ...mailFrame({
      title: 'You are now the owner of the team',
      preheader: `${short(former.name)} has transferred the ownership to you.`,
      blocks: [
        `${called(former)} has transferred the ownership of the team at ${host} to you, and is an admin from now on.`,
        'As the owner you have full access. You alone can change or remove admins and transfer the ownership to another member; nobody can remove you.',
        'Your browsers have been signed out, so that your new role counts everywhere: please sign in again.',
      ],
      button: { label: 'Open the team’s pages', url: config.APP_URL },
      footer: `You get this mail because you are a member of the team at ${host}.`,
    }),
  };
}

/** To the one who was the owner until now. */
export function formerOwnerMail(config: Addresses, { former, owner }: Handover): OutgoingMail {
  const host = hostOf(config);
  return {
    to: former.email,
    subject: `${short(owner.name)} is now the owner of the deliverability team at ${host}`,
    ...mailFrame({
      title: 'You have transferred the ownership of the team',
      preheader: 'You are an admin from now on.',
      blocks: [
        `${called(owner)} is the owner of the team at ${host} from now on. You are an admin: you keep your access to everything but what only the owner may do.`,
        'This cannot be undone by you; only the new owner can transfer the ownership back. Your browsers have been signed out: please sign in again.',
        `If it was not you who did this, somebody has used your account. Ask whoever runs the server to enter “deliverability owner ${former.email}” there, which makes you the owner again, then change your password and revoke your API keys.`,
      ],
      footer: `You get this mail because you were the owner of the team at ${host}.`,
    }),
  };
}

// The e-mail with the link to set a new password.

/** To a member; `url` is the link, which works for an hour. */
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
      preheader: 'The link works once, within an hour.',
      blocks: [
        `Somebody, probably you, asked for a new password for ${to} at ${host}.`,
        'The link below works once, within an hour. When the new password is set, every browser that is signed in with your account is signed out.',
        'If you did not ask for it, do nothing: your password stays as it is.',
      ],
      button: { label: 'Set a new password', url },
      footer: `You get this mail because somebody entered your address at ${host}.`,
    }),
  };
}
