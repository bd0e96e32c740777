/** `owner`: makes or resets the owner and prints, once, an API key and a link to set a password. */

import { readConfig } from '../config.ts';
import { createApiKey } from '../team/api-keys.ts';
import { findOwner } from '../team/members.ts';
import { makeOwner } from '../team/owner.ts';
import { makeOwnerLink } from '../team/password-links.ts';
import { readArguments } from './arguments.ts';
import { withStore } from './configure.ts';
import { type Command, EXIT, UsageError } from './io.ts';

export const owner: Command = {
  name: 'owner',
  usage: 'EMAIL [--json]',
  summary: 'Make or reset the owner and print an API key and a link to set a password, once',
  options: ['--json   Print the owner, the key and the link as JSON'],
  async run(args, io) {
    const { positionals, values } = readArguments(
      args,
      { json: { type: 'boolean' } },
      { min: 1, max: 1, what: 'EMAIL' },
    );
    const email = positionals[0]!;
    if (!/^[^\s@]+@[^\s@]+$/.test(email))
      throw new UsageError(`"${email}" is not an e-mail address`);
    await withStore(io, async (team) => {
      const before = await findOwner(team.db);
      const { owner: member, created } = await makeOwner(team, email);
      const { key } = await createApiKey(team, {
        memberId: member.id,
        name: 'owner command',
        role: 'owner',
        livemode: true,
      });
      const link = await makeOwnerLink(team, readConfig(io.env).config, member.id);
      if (before?.id === member.id && before.email !== member.email)
        io.stderr(
          `The owner was ${before.email}, whose password, sessions, API keys, links and invitations have ended.\n`,
        );
      if (values.json) {
        const { id, email: address } = member;
        const printed = { id, email: address, role: 'owner', key, password_url: link };
        io.stdout(`${JSON.stringify(printed)}\n`);
        return;
      }
      io.stderr(
        `${member.email} is ${created ? 'now ' : ''}the owner. This API key is shown once:\n`,
      );
      io.stdout(`${key}\n`);
      io.stderr(`To sign in, set a password within 24 hours; the link works once:\n${link}\n`);
    });
    return EXIT.done;
  },
};
