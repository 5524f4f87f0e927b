// Many requests at the same time.
import type { ApiRequest, Client } from '../service/client.ts';

/** So many requests at a time are served by two gateways however busy the machine is. */
const AT_ONCE = 40;

/** Sends `count` requests, many at once, spread over the gateways, and counts the statuses. */
export async function flood(
  gateways: Client[],
  count: number,
  request: ApiRequest,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let sent = 0;
  const sendNext = async (): Promise<void> => {
    while (sent < count) {
      const response = await gateways[sent++ % gateways.length]?.(request);
      const status = response?.status ?? 0;
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
  return counts;
}
