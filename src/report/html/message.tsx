/** The message itself: as its reader sees it, text, header, attachments, links and source, all of it harmless. */

import { formatSize } from '../../lib/durations.ts';
import { linkAnswers } from '../document/message.ts';
import type { MessageView, Report } from '../report.ts';
import {
  Code,
  exactly,
  Fold,
  formatOctets,
  linesOf,
  oneLine,
  Scroll,
  Section,
  State,
  type Tone,
} from './components.tsx';

export function MessageSection({ report }: { report: Report }) {
  const { message } = report;
  if (message === null)
    return (
      <Section id="message" title="The message">
        <p class="card padded muted">The message itself is not part of this report.</p>
      </Section>
    );
  return (
    <Section id="message" title="The message">
      <div class="stack">
        {message.html !== null && (
          <AsSeen html={message.html} remoteImages={message.remoteImages} />
        )}
        <Fold title="Text part" open={message.html === null}>
          {message.text === null ? (
            <p class="muted">The message has no text part.</p>
          ) : (
            <LongText text={message.text} label="Text part" />
          )}
        </Fold>
        <Fold title="Header" count={counted(message.headers.length, 'field')}>
          <Headers headers={message.headers} />
        </Fold>
        <Fold title="Attachments" count={counted(message.attachments.length, 'file')}>
          <Attachments attachments={message.attachments} />
        </Fold>
        <Fold title="Links" count={counted(message.links.length, 'link')}>
          <Links report={report} links={message.links} />
        </Fold>
        <Fold title="Source" count={formatSize(report.message_size)}>
          <LongText text={message.source} label="Source" />
          {message.sourceCut > 0 && (
            <p class="muted small">{formatOctets(message.sourceCut)} more are not shown.</p>
          )}
        </Fold>
        {message.notShown.length > 0 && <p class="muted small">{message.notShown.join(' ')}</p>}
      </div>
    </Section>
  );
}

const counted = (count: number, noun: string): string =>
  count === 0 ? 'none' : count === 1 ? `1 ${noun}` : `${count} ${noun}s`;

function AsSeen({ html, remoteImages }: { html: string; remoteImages: number }) {
  return (
    <figure class="card as-seen">
      <figcaption>
        <h3>As its reader sees it</h3>
        <fieldset class="widths screen-only">
          <legend class="visually-hidden">Width</legend>
          <label>
            <input type="radio" name="width" checked /> Computer
          </label>
          <label>
            <input type="radio" name="width" id="narrow" /> Phone
          </label>
        </fieldset>
        <p class="small muted">
          {remoteImages > 0 &&
            `${remoteImages === 1 ? 'One remote image is' : `${remoteImages} remote images are`} not loaded. `}
          Nothing is fetched, nothing runs, and the links lead nowhere.
        </p>
      </figcaption>
      <iframe sandbox="" srcdoc={messageDocument(html)} title="The message as its reader sees it" />
    </figure>
  );
}

/** Beyond this, paper is better spent otherwise. */
const PRINTED = 6000;

function LongText({ text, label }: { text: string; label: string }) {
  const lines = linesOf(text);
  return (
    <Scroll class="box long" label={label}>
      <pre>
        {lines.slice(0, PRINTED)}
        {lines.length > PRINTED && (
          <>
            <span class="screen-only">{lines.slice(PRINTED)}</span>
            <span class="print-only">… (the rest is not printed)</span>
          </>
        )}
      </pre>
    </Scroll>
  );
}

function Headers({ headers }: Pick<MessageView, 'headers'>) {
  if (headers.length === 0) return <p class="muted">The message has no header.</p>;
  return (
    <dl class="facts headers">
      {headers.map(({ name, value }, index) => (
        <div key={`${index + 1}`}>
          <dt>{name === '' ? <span class="muted">no field</span> : exactly(name)}</dt>
          <dd>
            <Code text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Attachments({ attachments }: Pick<MessageView, 'attachments'>) {
  if (attachments.length === 0) return <p class="muted">The message has no attachments.</p>;
  return (
    <Scroll label="Attachments">
      <table class="compact">
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Type</th>
            <th scope="col" class="number">
              Size
            </th>
          </tr>
        </thead>
        <tbody>
          {attachments.map(({ filename, type, size }, index) => (
            <tr key={`${index + 1}`}>
              <td>
                {filename ? oneLine(filename, 255) : <span class="muted">without a name</span>}
              </td>
              <td>
                <Code text={type} max={255} />
              </td>
              <td class="number">{formatSize(size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

// The links of a message, as text: nothing that comes from a message can be clicked.

const LINK_STATES: Record<string, { tone: Tone; word: string }> = {
  works: { tone: 'pass', word: 'Works' },
  dead: { tone: 'fail', word: 'Dead' },
  unknown: { tone: 'unknown', word: 'Unknown' },
};
const NOT_ASKED: { tone: Tone; word: string } = { tone: 'unknown', word: 'Not asked' };

function Links({ report, links }: { report: Report } & Pick<MessageView, 'links'>) {
  if (links.length === 0) return <p class="muted">The message has no links.</p>;
  const answerOf = linkAnswers(report);
  return (
    <Scroll label="Links">
      <table class="compact">
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Text</th>
            <th scope="col">Status</th>
          </tr>
        </thead>
        <tbody>
          {links.map(({ href, text }, index) => {
            const { status, reason } = answerOf(href) ?? { status: '', reason: null };
            const state = Object.hasOwn(LINK_STATES, status) ? LINK_STATES[status]! : NOT_ASKED;
            return (
              <tr key={`${index + 1}`}>
                <td>
                  <Code text={href} max={500} />
                </td>
                <td>{text ? <bdi>{oneLine(text, 200)}</bdi> : <span class="muted">none</span>}</td>
                <td>
                  <State {...state} />
                  {reason && <div class="muted">{oneLine(reason, 200)}</div>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

// A message as a document for a sandboxed frame, in which nothing runs, nothing is loaded, nothing leads away.

/** Stands first in the document, before anything of the message. */
const MESSAGE_CSP =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'";

/** Cannot be seen, and makes another name of a name. */
const NOTHING = '\u200b';

// Links look as they would if they led anywhere; what is not loaded has an outline in its place.
const MESSAGE_STYLE = `
html { color: #000; font: 16px/1.4 Arial, Helvetica, sans-serif; }
body { overflow-wrap: break-word; }
a[h${NOTHING}ref] { color: #0000ee; text-decoration: underline; }
img:not([src^="data:"]) { display: inline-block; outline: 1px dashed #8b8d9e; outline-offset: -1px; background: #f3f3f8; color: #585a6b; font: 12px/1.4 Arial, sans-serif; }
`;

/**
 * The document for `srcdoc`. The frame must be sandboxed without any exception, inside of a page
 * with `PAGE_CSP`.
 */
export function messageDocument(html: string): string {
  return [
    '<!doctype html>',
    `<meta http-equiv="Content-Security-Policy" content="${MESSAGE_CSP}">`,
    '<meta http-equiv="x-dns-prefetch-control" content="off">',
    '<meta name="referrer" content="no-referrer">',
    `<style>${MESSAGE_STYLE}</style>`,
    withoutWaysOut(html),
  ].join('');
}

/**
 * What a policy stops too late or not at all: a link that is followed makes the browser connect
 * before it looks at the policy, and so does a <link> (preconnect, dns-prefetch); the document of
 * an <iframe> may hold both. As text, so that it does not matter how anyone reads the HTML: without
 * these letters there is no such element and no such attribute.
 */
function withoutWaysOut(html: string): string {
  return html
    .replace(/<(?=(?:link|iframe|frame|object|embed|base|meta)[\s/>])/gi, '<x-')
    .replace(LINK_OR_IMAGE, (_, image: string | undefined, h: string, ref: string) =>
      image === undefined ? `${h}${NOTHING}${ref}` : image.replace(/h(?=ref)/gi, percentEncoded),
    );
}

/** `href`, or the Base64 of an image, in which the four letters stand by chance. */
const LINK_OR_IMAGE = /(data:[a-z/+.-]+;base64,[a-z0-9+/=]+)|(h)(ref)/gi;

/** A data URI is decoded before its Base64 is read: the image stays as it is. */
const percentEncoded = (letter: string): string => (letter === 'h' ? '%68' : '%48');
