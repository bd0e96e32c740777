/** The filters above a list: a form whose fields become the query of the URL. On phones, a button opens it. */

import { type ComponentChildren, Fragment, toChildArray, type VNode } from 'preact';
import { Select, TextField } from './form.tsx';

interface FiltersProps {
  path: string;
  /** Whether one is set, so that they can be cleared. */
  active: boolean;
  children: ComponentChildren;
}

/**
 * Changes apply at once where scripts run. On phones, several filters are a popover behind a button that says how many are
 * set, and which. On wide screens, styles show the popover as a row of the page.
 */
export function Filters({ path, active, children }: FiltersProps) {
  const fields = fieldsOf(children);
  const chosen = fields.flatMap(({ text }) => text || []);
  // An error must be seen.
  const isFolded = fields.length > 1 && !fields.some(({ hasError }) => hasError);
  const id = `filters-${fields[0]?.name}`;
  return (
    <>
      {isFolded && (
        <button type="button" class="button filter-button screen-only" popovertarget={id}>
          <svg class="icon" aria-hidden="true" viewBox="0 0 16 16">
            <path d="M2 4h12M4.5 8h7M7 12h2" />
          </svg>
          <span>{chosen.length > 0 ? `Filters (${chosen.length})` : 'Filters'}</span>
          {chosen.length > 0 && (
            <span class="one-line muted">
              {chosen.map((text, index) => (
                <Fragment key={text}>
                  {index > 0 && ' · '}
                  <bdi>{text}</bdi>
                </Fragment>
              ))}
            </span>
          )}
        </button>
      )}
      <form
        method="get"
        action={path}
        id={id}
        class={isFolded ? 'filters popover screen-only' : 'filters screen-only'}
        popover={isFolded ? 'auto' : undefined}
        data-filters
      >
        {children}
        <div class="filter-actions">
          <button type="submit" class="button">
            Apply
          </button>
          {active && <a href={path}>Clear filters</a>}
          {isFolded && (
            <button
              type="button"
              class="button needs-script filter-done"
              popovertarget={id}
              popovertargetaction="hide"
            >
              Done
            </button>
          )}
        </div>
      </form>
    </>
  );
}

interface FilterField {
  name: string;
  /** What is chosen; empty for a field without a choice, and for the first option of a list. */
  text: string;
  hasError: boolean;
}

type FieldProps = Parameters<typeof Select>[0] | Parameters<typeof TextField>[0];

/** The fields say themselves what is chosen, so that the button never differs from the form. */
function fieldsOf(children: ComponentChildren): FilterField[] {
  return toChildArray(children).flatMap((child) => {
    if (typeof child !== 'object') return [];
    const { type, props } = child as VNode<FieldProps & { children?: ComponentChildren }>;
    if (type === Fragment) return fieldsOf(props.children);
    if (type !== (Select as unknown) && type !== (TextField as unknown)) return [];
    const { name, value = '', error } = props;
    const options = 'options' in props ? props.options : [];
    const index = options.findIndex(([key]) => key === value);
    const text = value === '' ? '' : index > 0 ? options[index]![1] : index < 0 ? value : '';
    return [{ name, text, hasError: Boolean(error) }];
  });
}
