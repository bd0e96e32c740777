/** The preview of a message as the API returns it. */

import type { AccessibilityView } from './accessibility.ts';
import type { InboxLine } from './inbox-line.ts';
import type { ClientPreview, MessagePreview } from './message-preview.ts';
import type { RemovedFeature } from './removed-features.ts';

/** Without the frames, which are documents of their own. */
export function previewJson({ inbox, clients, text, accessibility }: MessagePreview) {
  return {
    object: 'test_preview' as const,
    inbox: {
      preview_source: inbox.previewSource,
      warnings: inbox.warnings,
      lists: inbox.lines.map(listJson),
    },
    clients: clients.map(clientJson),
    text_notes: text?.notes ?? [],
    accessibility: accessibility && accessibilityJson(accessibility),
  };
}

const listJson = ({ list, sender, subject, preview, basis }: InboxLine) => ({
  list,
  sender: sender.shown,
  sender_cut: sender.isCut,
  subject: subject.shown,
  subject_cut: subject.isCut,
  preview: preview.shown,
  preview_cut: preview.isCut,
  basis,
});

const clientJson = ({ client, removed, undrawn, clippedAtLine, truncated }: ClientPreview) => ({
  client: client.id,
  name: client.name,
  width: client.width,
  dark_mode: client.darkMode,
  clipped_at_line: clippedAtLine,
  truncated,
  removed: removed.map(featureJson),
  undrawn: undrawn && featureJson(undrawn),
});

const featureJson = (feature: RemovedFeature) => ({
  feature: feature.slug,
  title: feature.title,
  url: feature.url,
  count: feature.count,
  places: feature.places,
  missing_in: feature.missingIn,
  support_full: feature.support?.full ?? null,
  support_partial: feature.support?.partial ?? null,
});

const accessibilityJson = (view: AccessibilityView) => ({
  language: view.language,
  contrast: {
    enough: view.contrast.enough,
    too_low: view.contrast.tooLow,
    unknown: view.contrast.unknown,
  },
  problems: view.problems.map(({ line, kind, text, detail }) => ({ line, kind, text, detail })),
  truncated: view.truncated,
});

export type PreviewJson = ReturnType<typeof previewJson>;
