import type { AuthEvent } from '../auth/server/events.js';
import type { AuditSink, NotificationRecord, RestRecord } from './audit.js';
import { notificationEvent } from './notification-event.js';
import { createRestEvents } from './rest-event.js';
import { tokenEvent } from './token-event.js';

/** Takes down who did what. */
export interface Audit {
  rest(record: RestRecord): void;
  token(event: AuthEvent): void;
  notification(record: NotificationRecord): void;
  close(): Promise<void>;
}

/**
 * The audit of a server over a sink. authorization.md §6.4
 *
 * @param base URL that the server is known by
 * @param unaudited the type that reading is no matter of the audit of, where events themselves are resources
 */
export function createAudit(sink: AuditSink, base: () => string, unaudited?: string): Audit {
  const restEvent = createRestEvents(base);
  return {
    rest(record) {
      if (record.type === unaudited && unaudited !== undefined && record.status < 400) return;
      sink.take(restEvent(record));
    },
    token(event) {
      const recorded = tokenEvent(event, base());
      if (recorded !== undefined) sink.take(JSON.stringify(recorded));
    },
    notification(record) {
      // Otherwise a Subscription to events would be notified of its own notifications for ever.
      if (unaudited !== undefined && [...record.types].every((type) => type === unaudited)) return;
      sink.take(JSON.stringify(notificationEvent(record, base())));
    },
    close: () => sink.close(),
  };
}
