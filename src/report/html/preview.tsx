/**
 * The message as email clients show it. Radio buttons choose the client, the theme and the images; the style of the page
 * shows the frame that fits, so that this works without scripts and in saved files.
 */

import type { ComponentChildren } from 'preact';
import { ScrollArea } from '../../ui/components.tsx';
import type {
  Block,
  Glance,
  InboxBlock,
  InboxList,
  PreviewBlock,
  PreviewFrame,
} from '../blocks.ts';
import { messageDocument } from './message-frame.ts';

interface PreviewProps extends PreviewBlock {
  /** Precedes the names of the radio buttons. */
  name: string;
  paint(blocks: Block[]): ComponentChildren;
}

export function PreviewPanes({ name, paint, ...block }: PreviewProps) {
  const { switches, themes, images, clients, tooLong } = block;
  return (
    <div class="card preview">
      <div class="preview-switches screen-only">
        <Switch
          name={`${name}-client`}
          label={switches.client}
          options={clients.map(({ id, name: text }) => ({ value: id, text }))}
        />
        <Switch
          name={`${name}-theme`}
          label={switches.theme}
          options={[
            { value: 'light', text: themes.light },
            { value: 'dark', text: themes.dark },
          ]}
        />
        {images && (
          <Switch
            name={`${name}-images`}
            label={switches.images}
            options={[
              { value: 'on', text: images.on },
              { value: 'off', text: images.off },
            ]}
          />
        )}
      </div>
      {clients.map(({ id, name: client, width, frames, blocks }) => (
        <section key={id} class={`pane ${id}`} aria-label={client}>
          {/* On a narrow screen, the frame keeps its width and scrolls: media queries depend on it. */}
          <ScrollArea label={client} class="frames">
            {frames.map((frame) => (
              <Frame
                key={`${frame.theme}-${frame.images}`}
                frame={frame}
                width={width}
                tooLong={tooLong}
              />
            ))}
          </ScrollArea>
          <div class="pane-notes">{paint(blocks)}</div>
        </section>
      ))}
    </div>
  );
}

interface SwitchProps {
  name: string;
  label: string;
  /** The first is chosen. */
  options: { value: string; text: string }[];
}

function Switch({ name, label, options }: SwitchProps) {
  return (
    <fieldset class="switch">
      <legend>{label}</legend>
      <div class="switch-options">
        {options.map(({ value, text }, index) => (
          <label key={value}>
            <input type="radio" name={name} value={value} checked={index === 0} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface FrameProps {
  frame: PreviewFrame;
  width: number;
  tooLong: string;
}

/** Hidden frames load nothing, because they are lazy. */
function Frame({ frame, width, tooLong }: FrameProps) {
  const { theme, images, title, source } = frame;
  const classes = `frame ${theme} images-${images}`;
  if (source === null) return <p class={`${classes} muted`}>{tooLong}</p>;
  return (
    <iframe
      class={classes}
      sandbox=""
      loading="lazy"
      title={title}
      style={`width:${width}px`}
      {...('url' in source ? { src: source.url } : { srcdoc: messageDocument(source.html) })}
    />
  );
}

/** The message as a phone shows it, in a box that fits beside the verdict. */
export function GlanceBox({
  title,
  inbox,
  body,
  more,
}: Omit<Glance, 'more'> & { more: ComponentChildren }) {
  const [list] = inbox.lists;
  return (
    <section class="card glance" aria-label={title}>
      {list && <InboxLine list={list} logo={inbox.logo} theme="light" label={title} />}
      {'frame' in body ? (
        <div class="glance-frame">
          <Frame {...body} />
        </div>
      ) : (
        <ScrollArea label={title} class="glance-text">
          <pre>{body.lines.join('\n')}</pre>
        </ScrollArea>
      )}
      <p class="small muted">
        {title}. {more}
      </p>
    </section>
  );
}

// The lines in the lists of email clients.

export function InboxLists({ themes, logo, lists }: InboxBlock) {
  return (
    <div class="card inbox-lists">
      {lists.map((list) => (
        <section key={list.name} class="inbox-list">
          <h4>{list.name}</h4>
          <InboxLine list={list} logo={logo} theme="light" label={themes.light} />
          <InboxLine list={list} logo={logo} theme="dark" label={themes.dark} />
          <p class="small muted">{list.note}</p>
        </section>
      ))}
    </div>
  );
}

interface LineProps {
  list: InboxList;
  logo: string | null;
  theme: 'light' | 'dark';
  label: string;
}

function InboxLine({ list, logo, theme, label }: LineProps) {
  const { layout, initials, sender, subject, preview, previewLines, width } = list;
  return (
    <figure class={`inbox-line as-${layout} ${theme}`} aria-label={`${list.name}, ${label}`}>
      {logo ? (
        <img class="avatar" src={logo} alt="" width="36" height="36" />
      ) : (
        <span class="avatar" aria-hidden="true">
          {initials}
        </span>
      )}
      <bdi class="sender">{sender}</bdi>
      <span class="line-text" style={`max-width:${width}px`}>
        <bdi class="subject">{subject}</bdi>{' '}
        <bdi class="preview-text" style={`-webkit-line-clamp:${previewLines}`}>
          {preview}
        </bdi>
      </span>
    </figure>
  );
}
