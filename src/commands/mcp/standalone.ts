/** The tools that need no service: they analyze as `check` and `domain` do. */

import * as v from 'valibot';
import { readDomainName } from '../../analysis/domain/read-domain-name.ts';
import { readConfig } from '../../config/config.ts';
import { NewDomain } from '../../domains/schema.ts';
import { healthText } from '../../domains/tool-text.ts';
import { CHECK_DOMAIN_TEXT } from '../../domains/tools.ts';
import { described } from '../../http/schemas.ts';
import { type Tool, type ToolAnswer, tool } from '../../http/tool.ts';
import { systemClock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { explainCheck } from '../../mailtests/explain-check.ts';
import { notAMessage } from '../../mailtests/message-file.ts';
import { resultText } from '../../mailtests/tool-text.ts';
import { CHECK_MESSAGE_TEXT } from '../../mailtests/tools.ts';
import { receiptSentence } from '../../report/document/receipt.ts';
import { analyzeMessages, resultOf } from '../check/analysis.ts';
import { toTestObject } from '../check/check.ts';
import type { Io } from '../command.ts';
import { checkDomainHealth, toHealthObject } from '../domain.ts';
import { type MessageInput, messageTool } from './check-message.ts';

export interface StandaloneTools {
  tools: Tool[];
  /** The whole of a result that an answer links to; null if there is none. */
  findResource(uri: string): object | null;
}

/** The whole results of this session, the latest ones. */
const MAX_RESULTS = 20;

export function standaloneTools(io: Io): StandaloneTools {
  const results = new Map<string, object>();
  let count = 0;
  const keep = (result: object, name: string) => {
    count += 1;
    const uri = `deliverability://results/${count}`;
    results.set(uri, result);
    results.delete(`deliverability://results/${count - MAX_RESULTS}`);
    return { uri, name };
  };
  const check = (raw: Uint8Array, input: MessageInput) => checkMessage(raw, input, io, keep);
  return {
    tools: [
      messageTool(check, { description: CHECK_MESSAGE_TEXT, uses: [] }),
      domainTool(io, keep),
      explainCheck,
    ],
    findResource: (uri) => results.get(uri) ?? null,
  };
}

type Keep = (result: object, name: string) => { uri: string; name: string };

async function checkMessage(
  raw: Uint8Array,
  { kind, client_ip, helo, mail_from }: MessageInput,
  io: Io,
  keep: Keep,
): Promise<ToolAnswer> {
  const problem = notAMessage('The text', raw);
  if (problem !== null) throw new AppError('malformed_request', `${problem}.`);
  const input = {
    envelope: {
      client_ip: client_ip ?? null,
      helo: helo ?? null,
      mail_from: mail_from ?? null,
      tls: null,
    },
    kind,
  };
  const source = {
    name: 'message',
    path: null,
    size: raw.byteLength,
    isTemplate: false,
    read: async () => raw,
  };
  for await (const analyzed of analyzeMessages([source], input, {}, io)) {
    const read = resultOf(analyzed);
    if ('problem' in read) throw new AppError('internal_error', `${read.problem}.`);
    const test = toTestObject(read.result, { envelope: read.envelope, kind }, read.converted);
    const link = keep(test, 'The whole result as JSON');
    const text = resultText([receiptSentence(read.envelope)], test, `${link.uri} has the whole`);
    return { text, links: [link] };
  }
  throw new Error('There is one message');
}

const domainTool = (io: Io, keep: Keep): Tool =>
  tool({
    name: 'check_domain',
    title: 'Check a domain',
    description: `${CHECK_DOMAIN_TEXT} Give the DKIM selectors if you know them; otherwise, common ones are tried.`,
    uses: [],
    input: v.strictObject({
      domain: described(
        v.pipe(
          v.string('must be text'),
          v.check(
            (text) => readDomainName(text).name !== null,
            ({ input }) => readDomainName(input).fault ?? 'is not a domain name',
          ),
        ),
        'The name of the domain.',
        'example.com',
      ),
      dkim_selectors: NewDomain.entries.dkim_selectors,
    }),
    async run({ domain, dkim_selectors: selectors }) {
      const { config } = readConfig(io.env);
      const now = systemClock.now();
      const { name } = readDomainName(domain);
      const health = await checkDomainHealth(name!, config, { selectors, now }, io);
      const link = keep(toHealthObject(health, now), 'The whole result as JSON');
      return { text: healthText([], health, null, `${link.uri} has the whole`), links: [link] };
    },
  });
