// The section /console/deprecations: what the partner uses that will go away.
import type { DocumentedGraph } from '@partner-loyalty/gateway/graph/served.ts';
import { dayOf } from '@partner-loyalty/gateway/schema/dates.ts';
import { deprecationsOf } from '@partner-loyalty/gateway/schema/deprecations.ts';
import { SURFACE_NAMES } from '@partner-loyalty/gateway/schema/surfaces.ts';
import type { UsageCounts } from '@partner-loyalty/gateway/usage/usage.ts';
import { type Html, html } from '@partner-loyalty/runtime/pages/html.ts';
import { shownNumber, table } from './parts.ts';
import type { Section } from './section.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

export function createDeprecationsSection({
  usageStore,
  graphs,
}: {
  usageStore: Pick<UsageCounts, 'fieldsOf'>;
  graphs: { current(): DocumentedGraph };
}): Section {
  /** By coordinate: how often it was used, and the last day. */
  async function useOf(partnerId: string) {
    const now = Date.now();
    const days = Array.from({ length: DAYS }, (_, ago) => dayOf(now - ago * DAY_MS));
    const uses = new Map<string, { count: number; lastDay: string }>();
    for (const { coordinate, count, day } of await usageStore.fieldsOf(partnerId, days)) {
      const { count: others = 0, lastDay = '' } = uses.get(coordinate) ?? {};
      uses.set(coordinate, { count: others + count, lastDay: day > lastDay ? day : lastDay });
    }
    return uses;
  }

  return {
    name: 'deprecations',
    title: 'Deprecations',
    about: 'Which of the fields that you use will be removed, and when.',
    async show({ staff: { partnerId } }) {
      const uses = await useOf(partnerId);
      const { surfaces } = graphs.current();
      const all = new Map(
        SURFACE_NAMES.flatMap((name) => [...deprecationsOf(surfaces[name].schema)]),
      );
      const used = [...all].flatMap(([coordinate, deprecation]) => {
        const use = uses.get(coordinate);
        return use === undefined ? [] : [{ coordinate, ...deprecation, ...use }];
      });
      const others = all.size - used.length;
      const rest =
        others === 0
          ? html``
          : html`<p class="soft">Deprecated, but not used by you: ${others}.
<a href="/docs#changelog">Changelog</a></p>`;
      return html`<p>Based on your requests in the last ${DAYS} days, made with your keys or with
members’ tokens that you or your apps hold.</p>
${used.length === 0 ? html`<p>You use nothing that is deprecated.</p>` : usedTable(used)}${rest}`;
    },
  };
}

type Used = {
  coordinate: string;
  reason: string;
  until: number;
  count: number;
  lastDay: string;
};

/** The first to go comes first. */
function usedTable(used: Used[]): Html {
  const rows = used
    .sort((one, other) => one.until - other.until)
    .map(
      ({ coordinate, reason, until, count, lastDay }) => html`<tr>
<th scope="row"><code>${coordinate}</code></th><td>${dayOf(until)}</td>
<td class="number">${shownNumber(count)}</td><td>${lastDay}</td><td>${reason}</td></tr>`,
    );
  const columns = ['What', 'Kept until', 'Uses', 'Last used', 'What to do'];
  return table(['used', 'What you use'], columns, rows, 'used', ['Uses']);
}
