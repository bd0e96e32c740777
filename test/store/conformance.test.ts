import { test } from 'node:test';
import { openTestStore } from '../helpers/store.ts';

test('x', async (t) => {
  const s = await openTestStore(t);
  console.log(
    s.engine,
    s.migration,
    await s.db
      .selectFrom('tests')
      .select(({ fn }) => fn.countAll().as('n'))
      .execute(),
  );
});
