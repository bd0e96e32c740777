/** Reports with thousands of senders, and the ways in which they are indented. */

import { record } from './builders.ts';

export interface IndentedForm {
  indent: string;
  newline: string;
}

/** As programs write them. */
export const INDENTED: Record<string, IndentedForm> = {
  'two spaces': { indent: '  ', newline: '\n' },
  'four spaces and CRLF': { indent: '    ', newline: '\r\n' },
  'tabs and CRLF': { indent: '\t', newline: '\r\n' },
  'line ends alone': { indent: '', newline: '\n' },
  'CR as character references': { indent: ' ', newline: '&#13;\n' },
};

/** Each element on a line of its own, as deep as it is. */
export function indented(xml: string, { indent, newline }: IndentedForm): string {
  let depth = 0;
  const body = xml.replace(/^<\?xml[^>]*>\s*/, '');
  const lines = body.match(/<[^/>]+>[^<]+<\/[^>]+>|<[^>]+>/g)!.map((part) => {
    const isEnd = part.startsWith('</');
    if (isEnd) depth -= 1;
    const line = indent.repeat(depth) + part;
    if (!isEnd && !part.includes('</') && !part.endsWith('/>')) depth += 1;
    return line;
  });
  return lines.join(newline);
}

export interface ReportedSender {
  address: string;
  count: number;
  dkim: 'pass' | 'fail';
  /** What its messages are summed up by. */
  source: string;
  xml: string;
}

/**
 * Different addresses in 79 networks per 20,000: of a known service, of a server that signs for the domain, and of others. No two
 * counts near the 5,000th are the same, so that it is clear which rows are kept.
 */
export const senders = (
  count: number,
  { networks = 256, hosts = 256, countOf = (index: number) => index + 1 } = {},
): ReportedSender[] =>
  Array.from({ length: count }, (_, index) => {
    const third = (index >> 8) % networks;
    const address = `198.51.${third}.${index % hosts}`;
    const network = `198.51.${third}.0/24`;
    const kind = index % 4;
    const own =
      '<dkim><domain>mail.example.com</domain><selector>s1</selector><result>pass</result></dkim>';
    const [dkim, source, results]: [ReportedSender['dkim'], string, string] =
      kind === 0
        ? [
            'fail',
            'others sendgrid.net',
            `<spf><domain>em${index}.sendgrid.net</domain><result>pass</result></spf>`,
          ]
        : kind === 1
          ? ['pass', `${network} example.com`, own]
          : ['fail', network, '<spf><domain>example.com</domain><result>fail</result></spf>'];
    const messages = countOf(index);
    return {
      address,
      count: messages,
      dkim,
      source,
      xml: record({
        source: address,
        count: String(messages),
        dkim,
        spf: 'fail',
        results: `<auth_results>${results}</auth_results>`,
      }),
    };
  });
