/** `owner`: creates or resets the owner, and prints an API key and a link to set a password. */

import { readConfig } from '../config/config.ts';
import { printable } from '../lib/log.ts';
import type { MemberRow } from '../store/tables.generated.ts';
import { createApiKey } from '../team/api-keys.ts';
import { findMemberByEmail, findOwner, normalizeEmail } from '../team/members.ts';
import { makeOwner } from '../team/owner.ts';
import { createOwnerLink } from '../team/passwords.ts';
import { type Command, EXIT, readArguments, UsageError } from './command.ts';
import { withStore } from './configure.ts';

export const owner: Command = {
  name: 'owner',
  usage: 'EMAIL [--replace] [--json]',
  summary: 'Create or reset the owner; print an API key and a password link',
  options: [
    '--replace  Change the owner to an address that is not a member, and revoke the current owner’s access',
    '--json     Print the owner, the API key and the link as JSON',
  ],
  async run(args, io) {
    const { positionals, values } = readArguments(
      args,
      { replace: { type: 'boolean' }, json: { type: 'boolean' } },
      { min: 1, max: 1, what: 'EMAIL' },
    );
    const email = addressOf(positionals[0]!);
    return withStore(io, async (team) => {
      const present = await findOwner(team.db);
      if (present && !values.replace && !(await findMemberByEmail(team.db, email))) {
        io.stderr(needsReplace(present, email));
        return EXIT.usage;
      }
      const { owner: member, created, previous } = await makeOwner(team, email);
      const { key } = await createApiKey(team, {
        memberId: member.id,
        name: 'owner command',
        role: 'owner',
        livemode: true,
      });
      const link = await createOwnerLink(team, readConfig(io.env).config, member.id);
      if (previous) io.stderr(whatEnded(previous, member));
      if (values.json) {
        const { id, email: address } = member;
        const printed = { id, email: address, role: 'owner', key, password_url: link };
        io.stdout(`${JSON.stringify(printed)}\n`);
        return EXIT.success;
      }
      io.stderr(
        `${printable(member.email)} is ${created ? 'now ' : ''}the owner. This API key is shown only once:\n`,
      );
      io.stdout(`${key}\n`);
      io.stderr(`To sign in, set a password within 24 hours. The link works once:\n${link}\n`);
      return EXIT.success;
    });
  },
};

/** The address in its normal form. Throws a UsageError if it is invalid. */
function addressOf(given: string): string {
  const email = normalizeEmail(given);
  if (email !== null) return email;
  const shown = printable(given.length > 100 ? `${given.slice(0, 100)}…` : given);
  throw new UsageError(`"${shown}" is not a valid email address; use the form you@example.com`);
}

/** Without `--replace`, a typing error would lock out the owner. */
const needsReplace = (present: MemberRow, email: string): string =>
  `No member has the address ${printable(email)}. The owner is ${printable(present.email)}. ` +
  'To change the owner’s address, add --replace. That revokes the current owner’s password, sessions, API keys, ' +
  'links and invitations. Nothing was changed.\n';

function whatEnded(former: MemberRow, owner: MemberRow): string {
  const ended = `The owner was ${printable(former.email)}, whose password, sessions, API keys, links and invitations are now revoked.\n`;
  if (former.id === owner.id) return ended;
  return `${ended}They are now an admin, and can sign in after setting a new password with “Forgot your password?”. If outgoing email is not configured, remove them and invite them again.\n`;
}
