/** `owner`: creates or resets the owner, and prints an API key and a link to set a password. */

import { rulesForFirstOwner } from '../alerts/recommended.ts';
import { readConfig } from '../config/config.ts';
import { printable, printableJson } from '../lib/log.ts';
import { createSubscribers } from '../store/subscribers.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { createApiKey } from '../team/api-keys.ts';
import { findMemberByEmail, findOwner, normalizeEmail } from '../team/members.ts';
import { makeOwner } from '../team/owner.ts';
import { createOwnerLink } from '../team/passwords.ts';
import { defineCommand, EXIT, printMessage, UsageError } from './command.ts';
import { withStore } from './configure.ts';

/** The service may not be running, and the team gets the same as from it. */
const subscribers = createSubscribers([rulesForFirstOwner]);

export const owner = defineCommand({
  name: 'owner',
  summary: 'Create or reset the owner; print an API key and a password link',
  arguments: [{ name: 'EMAIL' }],
  options: {
    replace: {
      description:
        'Change the owner to an address that is not a member, and revoke the current owner’s access',
    },
    json: { description: 'Print the owner, the API key and the link as JSON' },
  },
  async run({ positionals, values }, io) {
    const email = addressOf(positionals[0]!);
    return withStore(io, 'create', async (team) => {
      const currentOwner = await findOwner(team.db);
      if (currentOwner && !values.replace && !(await findMemberByEmail(team.db, email))) {
        printMessage(io, replaceRequiredText(currentOwner, email));
        return EXIT.usage;
      }
      const { owner: member, created, previous } = await makeOwner({ ...team, subscribers }, email);
      const { key } = await createApiKey(team, {
        memberId: member.id,
        name: 'owner command',
        role: 'owner',
        livemode: true,
      });
      const link = await createOwnerLink(team, readConfig(io.env).config, member.id);
      if (previous) printMessage(io, revocationText(previous, member));
      if (values.json) {
        const { id, email: address } = member;
        const printed = { id, email: address, role: 'owner', key, password_url: link };
        io.stdout(`${printableJson(printed)}\n`);
        return EXIT.success;
      }
      printMessage(
        io,
        `${printable(member.email)} is ${created ? 'now ' : ''}the owner. This API key is shown only once:`,
      );
      io.stdout(`${key}\n`);
      printMessage(io, `To sign in, set a password within 24 hours. The link works once:\n${link}`);
      return EXIT.success;
    });
  },
});

/** The normalized address. Throws a UsageError if it is invalid. */
function addressOf(text: string): string {
  const email = normalizeEmail(text);
  if (email !== null) return email;
  const quoted = printable(text.length > 100 ? `${text.slice(0, 100)}…` : text);
  throw new UsageError(`"${quoted}" is not a valid email address; use the form you@example.com`);
}

/** If `--replace` were not required, a typo in the address would lock out the owner. */
const replaceRequiredText = (currentOwner: MemberRow, email: string): string =>
  `No member has the address ${printable(email)}. The owner is ${printable(currentOwner.email)}. ` +
  'To change the owner’s address, add --replace. That revokes the current owner’s password, sessions, API keys, ' +
  'links and invitations. Nothing was changed.';

function revocationText(previous: MemberRow, owner: MemberRow): string {
  const text = `The owner was ${printable(previous.email)}, whose password, sessions, API keys, links and invitations are now revoked.`;
  if (previous.id === owner.id) return text;
  return `${text} They are now an admin, and can sign in after setting a new password with “Forgot your password?”. If outgoing email is not configured, remove them and invite them again.`;
}
