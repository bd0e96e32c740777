/** `owner`: makes or resets the owner and prints, once, an API key. */

import { createApiKey, makeOwner } from '../team/queries.ts';
import { readArguments } from './arguments.ts';
import { withStore } from './configure.ts';
import { type Command, EXIT, UsageError } from './io.ts';

export const owner: Command = {
  name: 'owner',
  usage: 'EMAIL [--json]',
  summary: 'Make or reset the owner and print an API key, once',
  options: ['--json   Print the owner and the key as JSON'],
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
      const { owner: member, created } = await makeOwner(team, email);
      const { key } = await createApiKey(team, {
        memberId: member.id,
        name: 'owner command',
        role: 'owner',
        livemode: true,
      });
      if (values.json)
        io.stdout(
          `${JSON.stringify({ id: member.id, email: member.email, role: 'owner', key })}\n`,
        );
      else {
        io.stderr(
          `${member.email} is ${created ? 'now ' : ''}the owner. This API key is shown once:\n`,
        );
        io.stdout(`${key}\n`);
      }
    });
    return EXIT.done;
  },
};
