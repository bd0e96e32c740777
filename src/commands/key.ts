/** `key`: makes an API key of the owner and prints it, once. */

import { ROLES, type Role } from '../http/actor.ts';
import { createApiKey } from '../team/api-keys.ts';
import { findOwner } from '../team/members.ts';
import { type Command, EXIT, readArguments, UsageError } from './command.ts';
import { withStore } from './configure.ts';

export const key: Command = {
  name: 'key',
  usage: 'NAME --role ROLE [--test] [--json]',
  summary: 'Make an API key and print it, once',
  options: [
    `--role ROLE   ${ROLES.join(', ')}`,
    '--test        A test-mode key: what it makes never counts in reports',
    '--json        Print the key and what it may do as JSON',
  ],
  async run(args, io) {
    const { positionals, values } = readArguments(
      args,
      { role: { type: 'string' }, test: { type: 'boolean' }, json: { type: 'boolean' } },
      { min: 1, max: 1, what: 'NAME' },
    );
    const name = positionals[0]!;
    if (name.length > 200 || /[\u0000-\u001f\u007f]/.test(name))
      throw new UsageError('NAME takes 1 to 200 characters, none of them a control character');
    const role = values.role as Role | undefined;
    if (!role || !ROLES.includes(role))
      throw new UsageError(`--role takes one of ${ROLES.join(', ')}`);
    return withStore(io, async (team) => {
      const member = await findOwner(team.db);
      if (!member) {
        io.stderr('There is no owner yet. Run: deliverability owner you@example.com\n');
        return EXIT.usage;
      }
      const made = await createApiKey(team, {
        memberId: member.id,
        name,
        role,
        livemode: !values.test,
      });
      const { id, prefix } = made.row;
      if (values.json)
        io.stdout(
          `${JSON.stringify({ id, name, role, prefix, livemode: !values.test, key: made.key })}\n`,
        );
      else {
        io.stderr('This API key is shown once:\n');
        io.stdout(`${made.key}\n`);
      }
      return EXIT.done;
    });
  },
};
