/** The analysis of the floor: authentication by mailauth, postal-mime, a walk of the HTML, and a result of 46 kB. */

import { Resolver } from 'node:dns/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Parser } from 'htmlparser2';
import { authenticate, type DNSResolver } from 'mailauth';
import PostalMime from 'postal-mime';

export interface FloorInput {
  id: number;
  raw: Uint8Array;
  envelope: { ip: string; helo: string; sender: string; recipients: string[] };
}

export interface FloorOutput {
  id: number;
  /** As JSON. */
  result: string;
}

/** With this many findings, the result of the newsletter is as large as that of the product. */
const FINDINGS = 66;
const QUOTE_LENGTH = 200;

const resolver = new Resolver();
resolver.setServers([`127.0.0.1:${(workerData as { dnsPort: number }).dnsPort}`]);
const resolve = ((name, type) => resolver.resolve(name, type)) as DNSResolver;

parentPort!.on('message', async ({ id, raw, envelope }: FloorInput) => {
  const result = await analyze(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), envelope);
  parentPort!.postMessage({ id, result: JSON.stringify(result) } satisfies FloorOutput);
});

async function analyze(raw: Buffer, { ip, helo, sender }: FloorInput['envelope']) {
  const { spf, dkim, dmarc, arc } = await authenticate(raw, {
    ip,
    helo,
    sender,
    mta: 'mx.bench.example',
    resolver: resolve,
    disableBimi: true,
  });
  const passed = dkim.results.filter(({ status }) => status.result === 'pass');
  if (passed.length !== 2) throw new Error('A signature is not valid');
  const mail = await PostalMime.parse(raw);
  const document = walk(mail.html ?? '');
  return {
    authentication: { spf, dkim, dmarc, arc },
    message: {
      from: mail.from,
      to: mail.to,
      subject: mail.subject,
      date: mail.date,
      headers: mail.headers,
      text: mail.text,
      size: raw.byteLength,
    },
    document,
    findings: Array.from({ length: FINDINGS }, (_, index) => finding(index, document)),
  };
}

/** Elements by name, links, images, and the visible text. */
function walk(html: string) {
  const elements: Record<string, number> = {};
  const links: { url: string; text: string }[] = [];
  const images: { url: string; alt: string }[] = [];
  const texts: string[] = [];
  let hidden = 0;
  let depth = 0;
  let maxDepth = 0;
  let link: { url: string; text: string } | null = null;
  const parser = new Parser({
    onopentag(name, attributes) {
      elements[name] = (elements[name] ?? 0) + 1;
      depth += 1;
      maxDepth = Math.max(maxDepth, depth);
      if (name === 'style' || name === 'script') hidden += 1;
      if (name === 'img') images.push({ url: attributes.src ?? '', alt: attributes.alt ?? '' });
      if (name === 'a') {
        link = { url: attributes.href ?? '', text: '' };
        links.push(link);
      }
    },
    ontext(text) {
      if (hidden > 0) return;
      texts.push(text);
      if (link) link.text += text;
    },
    onclosetag(name) {
      depth -= 1;
      if (name === 'style' || name === 'script') hidden -= 1;
      if (name === 'a') link = null;
    },
  });
  parser.end(html);
  const text = texts.join('').replace(/\s+/g, ' ').trim();
  return { elements, links, images, text, maxDepth };
}

/** Like a check of the product: a verdict, an explanation, and evidence from the message. */
function finding(index: number, { links, images, text }: ReturnType<typeof walk>) {
  const from = (index * 37) % Math.max(1, text.length - QUOTE_LENGTH);
  const link = links[index % links.length];
  const image = images[index % images.length];
  return {
    id: `finding_${index}`,
    status: index % 5 === 0 ? 'warn' : 'pass',
    title: `Finding ${index} on the text, its links and its images`,
    explanation: `The text has ${text.length} characters, ${links.length} links and ${images.length} images.`,
    evidence: { quote: text.slice(from, from + QUOTE_LENGTH), link, image },
  };
}
