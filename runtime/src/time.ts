// How people read times: pages, mails and the tables of the command. Programs get ISO 8601.

/** `2026-11-25 17:03 UTC`; with seconds, `2026-11-25 17:03:09 UTC`, where order needs them. */
export function timeText(at: Date | number, hasSeconds = false): string {
  return `${new Date(at)
    .toISOString()
    .slice(0, hasSeconds ? 19 : 16)
    .replace('T', ' ')} UTC`;
}
