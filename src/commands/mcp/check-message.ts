/** The tool that checks a message, which here can also be a file on the machine of the user. */

import { statSync } from 'node:fs';
import * as v from 'valibot';
import { described } from '../../http/schemas.ts';
import { type Tool, type ToolAnswer, type ToolCall, tool } from '../../http/tool.ts';
import { invalidParams } from '../../lib/errors.ts';
import { MESSAGE, MESSAGE_INPUT } from '../../mailtests/tools.ts';
import { fileSource, MAX_MESSAGE_BYTES } from '../check/inputs.ts';
import { UsageError } from '../command.ts';

const INPUT = v.strictObject({
  message: v.optional(MESSAGE),
  file: v.optional(
    described(
      v.pipe(v.string('must be text'), v.regex(/\.eml$/i, 'must be the path of an .eml file')),
      'The path of an .eml file on the machine of the user, instead of `message`.',
      '/home/alex/newsletter.eml',
    ),
  ),
  ...MESSAGE_INPUT,
});

export type MessageInput = Omit<v.InferOutput<typeof INPUT>, 'message' | 'file'>;

/** `check` gets the bytes of the message. */
export const messageTool = (
  check: (raw: Uint8Array, input: MessageInput, call: ToolCall) => Promise<ToolAnswer>,
  base: Pick<Tool, 'description' | 'uses' | 'resources' | 'answers' | 'effect'>,
): Tool =>
  tool({
    ...base,
    name: 'check_message',
    title: 'Check a message',
    input: INPUT,
    async run({ message, file, ...input }, call) {
      if ((message === undefined) === (file === undefined))
        throw invalidParams([
          { param: 'message', code: 'invalid', message: 'give either message or file' },
        ]);
      const raw = file === undefined ? Buffer.from(message!) : await readMessage(file);
      return check(Uint8Array.from(raw), input, call);
    },
  });

/** Only messages: a model that was misled cannot read other files this way. */
async function readMessage(file: string): Promise<Uint8Array> {
  const problem = (message: string) => invalidParams([{ param: 'file', code: 'invalid', message }]);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw problem(`${file} does not exist`);
  if (!stats.isFile()) throw problem(`${file} is not a file`);
  if (stats.size > MAX_MESSAGE_BYTES) throw problem(`it is larger than ${MAX_MESSAGE_BYTES} bytes`);
  try {
    return await fileSource(file).read();
  } catch (error) {
    throw error instanceof UsageError ? problem(error.message) : error;
  }
}
