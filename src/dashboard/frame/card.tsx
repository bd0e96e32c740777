/** Parts of a page: titled cards, and lists of facts. */

import type { ComponentChildren } from 'preact';

/** Facts about an object: a list of terms and values. Values that are null are left out. */
export function Facts({ items }: { items: [term: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {items
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A titled part of a page. */
export function Card({
  title,
  id,
  actions,
  children,
}: {
  title?: string;
  id?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card panel" id={id} aria-labelledby={title && id ? `${id}-title` : undefined}>
      {title && (
        <div class="panel-head">
          <h2 id={id ? `${id}-title` : undefined}>{title}</h2>
          {actions && <div class="actions screen-only">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}
