/** The message itself: as its reader sees it, text, header, attachments, links and source, all of it harmless. */

import { formatSize } from '../../lib/durations.ts';
import type { MessageView, Report } from '../report.ts';
import { messageDocument } from './message-frame.ts';
import { Links } from './message-links.tsx';
import { Fold, Scroll, Section } from './section.tsx';
import { Code, exactly, formatOctets, linesOf, oneLine } from './shown-values.tsx';

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
